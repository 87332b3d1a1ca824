"""fio's job files: parsed, resolved into threads, reported in fio's JSON."""
