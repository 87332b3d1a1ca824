"""What is to be said of rows: one package judges them, with one signature."""
