"""Pages of fits, comparisons, monitored loads, traces and published figures."""
