"""fio's results, logs, options and jobs, and fio itself in virtual time."""
