"""What people read: pages, tables and pictures of results; the one layer that draws."""
