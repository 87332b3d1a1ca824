"""Devices from data sheets: short runs that compare, and adjust, what closed forms gave."""
