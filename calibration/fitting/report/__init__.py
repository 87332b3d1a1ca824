"""What a fit came to: its document, its files, predictions, pictures, the page."""
