"""One reader for each format of a monitoring tool."""

from __future__ import annotations

from raidlab.calibration.monitoring.readers import (
    atop,
    azure,
    cloudwatch,
    collectl,
    delimited,
    diskstats,
    dstat,
    exposition,
    gcp,
    grafana_json,
    iostat_bsd,
    iostat_json,
    iostat_text,
    nmon,
    pcp_text,
    pdh,
    prometheus,
    sadf,
    sar_text,
    vscsistats,
    zabbix,
)
from raidlab.calibration.monitoring.readers.reader import Reader

READERS: tuple[Reader, ...] = (
    iostat_json.READER,
    iostat_bsd.READER,
    iostat_text.READER,
    sadf.READER,
    sar_text.READER,
    diskstats.READER,
    exposition.READER,
    prometheus.READER,
    delimited.READER,
    zabbix.READER,
    grafana_json.READER,
    pdh.READER,
    vscsistats.READER,
    cloudwatch.READER,
    azure.READER,
    gcp.READER,
    nmon.READER,
    dstat.READER,
    collectl.READER,
    pcp_text.READER,
    atop.READER,
)
"""All formats; of two that are as sure the first."""
