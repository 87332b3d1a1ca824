"""Part numbers of drives: which line of products a model as a machine prints it belongs to.

A rule is a maker's scheme of part numbers: letters for the line, digits for capacity and
generation. Where only the digit of the generation differs, the line is a neighbour of that of the
catalogue.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """Models of one line."""

    pattern: str
    stem: str
    """Begin of the names of the catalogue's devices of this line."""
    neighbour: str | None = None
    """The line itself, where the catalogue has its neighbour only."""


RULES = (
    # Seagate: ST, gigabytes, two letters of the family, four digits or three and a letter.
    Rule(r"^ST(10|12|14|16)000NM\d{3}G", "exos-x16"),
    Rule(r"^ST(16|18)000NM\d{3}J", "exos-x18"),
    Rule(r"^ST(18|20)000NM\d{3}D", "exos-x20"),
    Rule(r"^ST(20|24)000NM\d{3}H", "exos-x24"),
    Rule(r"^ST14000NM0001", "exos-2x14"),
    Rule(r"^ST18000NM0092", "exos-2x18"),
    Rule(r"^ST(600|1200|1800|2400)MM01[2-4]9", "exos-10e2400"),
    Rule(r"^ST[2456]000NM00[0-4]4", "enterprise-capacity-v4"),
    Rule(r"^ST8000VN\d+", "ironwolf"),
    Rule(r"^ST\d+VN\d+", "ironwolf"),
    Rule(r"^ST\d+AS0002", "archive"),
    # Toshiba: MG, generation, A for SATA or S for SAS, capacity.
    Rule(r"^MG04[AS]C[AP]\d+[TE]", "mg04"),
    Rule(r"^MG08[AS]C[AP]\d+T", "mg08"),
    Rule(r"^MG09[AS]C[AP]\d+T", "mg09"),
    Rule(r"^MG10[AS]CA\d+T", "mg10"),
    Rule(r"^MG11[AS]C[AP]\d+T", "mg11"),
    Rule(r"^MK3001GRRB", "mk3001grrb"),
    # HGST and WD: Ultrastar by form factor, generation, largest and own capacity.
    Rule(r"^HUS726T\dTAL", "hc310"),
    Rule(r"^WUH7220\d\dB?[A-Z]?[LE]", "hc560"),
    Rule(r"^WUH7222\d\dB?[A-Z]?[LE]", "hc570"),
    Rule(r"^WUH7224\d\dB?[A-Z]?[LE]", "hc580"),
    Rule(r"^HUS7240\d\dALS", "7k4000"),
    Rule(r"^HUC1018\d\dCS", "c10k1800"),
    Rule(r"^HUC1560\d\dCS", "c15k600"),
    Rule(r"^HTS72101", "hgst-hts72101"),
    Rule(r"^WD\d+EF([BZP]X|PX)|^WD80EFAX", "red-plus"),
    Rule(r"^WD_?BLACK SN850X|^WDS\d+T2X0E", "sn850x"),
    # Intel, Solidigm: SSDPE2 or SSDPF2 on PCIe, SSDSC2 on SATA; the generation is last.
    Rule(r"^SSDPE[2D]KE\d{3}T8", "p4610"),
    Rule(r"^SSDPE[2D]KE\d{3}T7", "p4610", "P4600"),
    Rule(r"^SSDPE[2D]KX\d{3}T7", "p4500"),
    Rule(r"^SSDPE2KX\d{3}T8", "p4500", "P4510"),
    Rule(r"^SSDPE(2M|DM)D\d{3}[TG]4", "p3700"),
    Rule(r"^SSDPF2KX\d{3}T9", "p5500"),
    Rule(r"^SSDPF2KX\d{3}TZ", "p5500", "P5510"),
    Rule(r"^SSDPF2KX\d{3}T1", "p5520"),
    Rule(r"^SSDPF2KE\d{3}T9", "p5600"),
    Rule(r"^SSDPF2KE\d{3}T1", "p5600", "P5620"),
    Rule(r"^SSDPE[D2]1K\d{3}GA", "p4800x"),
    Rule(r"^SBFPF[2W]BV", "p5336"),
    Rule(r"^SSDPF2SQ", "p5810"),
    Rule(r"^SSDSC[2K]KB\d{3}[GT]7", "s4500"),
    Rule(r"^SSDSC[2K]KB\d{3}[GT]8", "s4500", "S4510"),
    Rule(r"^SSDSC[2K]KB\d{3}[GT]Z", "s4500", "S4520"),
    Rule(r"^SSDSC2KG\d{3}[GT]7", "s4600"),
    Rule(r"^SSDSC2KG\d{3}[GT]8", "s4610"),
    Rule(r"^SSDSC2KG\d{3}[GT]Z", "s4610", "S4620"),
    # Samsung: MZ, form factor, line, capacity.
    Rule(r"^MZQL2", "pm9a3-u2|pm9a3"),
    Rule(r"^MZ1L2", "pm9a3-m2|pm9a3"),
    Rule(r"^MZ3L[2O6]", "pm9a3-e1s|pm9a3"),
    Rule(r"^MZ(QLB|1LB)", "pm983"),
    # Of one line, sizes of three writes a day are called PM1735.
    Rule(r"^MZWLJ(1T6|3T2|6T4|12T)", "pm1733", "PM1735"),
    Rule(r"^MZPLJ", "pm1733", "PM1735"),
    Rule(r"^MZWLJ", "pm1733"),
    Rule(r"^MZWLR", "pm1733", "PM1733a"),
    Rule(r"^MZWLO", "pm1743"),
    Rule(r"^MZILT", "pm1643"),
    Rule(r"^MZILG", "pm1653"),
    Rule(r"^MZWLL\w{4}[EM]", "pm1725a"),
    Rule(r"^MZWLL\w{4}A", "pm1725a", "PM1725b"),
    Rule(r"^MZPLL\w{4}[EM]", "pm1725a-hhhl|pm1725a"),
    Rule(r"^MZPLL\w{4}A", "pm1725a-hhhl|pm1725a", "PM1725b"),
    # Kioxia: K, C and the line, its generation, endurance L or R for reads and V for mixed use.
    Rule(r"^KCD6\w?[LR]U", "cd6-r"),
    Rule(r"^KCD6\w?VU", "cd6-v"),
    Rule(r"^KCD7\w?[LR]U", "cd7"),
    Rule(r"^KCD8\w?[LR]U", "cd8"),
    Rule(r"^KCM6\w?RU", "cm6-r"),
    Rule(r"^KCM6\w?VU", "cm6-v"),
    Rule(r"^KCM7\w?RU", "cm7-r"),
    # Micron: MTFD, interface and form factor, capacity, three letters of line and endurance.
    Rule(r"^MTFDDA[KV]\w{3,4}TDS", "micron-5300-pro"),
    Rule(r"^MTFDDA[KV]\w{3,4}TDT", "micron-5300-max"),
    Rule(r"^MTFDDA[KV]\w{3,4}TGA", "micron-5400-pro"),
    Rule(r"^MTFDDA[KV]\w{3,4}TGB", "micron-5400-max"),
    Rule(r"^MTFDH(BE|BA|BG)\w{3,4}TDF", "micron-7300"),
    Rule(r"^MTFDH(BE|BA|BG)\w{3,4}TDG", "micron-7300", "7300 MAX"),
    Rule(r"^MTFDKB[AG]\w{3,4}TDZ", "micron-7400-m2|micron-7400"),
    Rule(r"^MTFDKB[AG]\w{3,4}TFC", "micron-7400-m2|micron-7400", "7400 MAX"),
    Rule(r"^MTFDK\w\w\w{3,4}TDZ", "micron-7400"),
    Rule(r"^MTFDK\w\w\w{3,4}TFC", "micron-7400", "7400 MAX"),
    Rule(r"^MTFDK\w\w\w{3,4}TFR", "micron-7450-pro"),
    Rule(r"^MTFDK\w\w\w{3,4}TFS", "micron-7450-max"),
    Rule(r"^MTFDHAL\w{3,4}TCU", "micron-9200-max"),
    Rule(r"^MTFDHAL\w{3,4}TDP", "micron-9300"),
    Rule(r"^MTFDK\w\w\w{3,4}TGH", "micron-9400"),
    Rule(r"^MTFDL\w\w\w{3,4}THB", "micron-9550-max"),
    # Kingston.
    Rule(r"^SEDC600M", "dc600m"),
    # Names of lines, as client drives and server makers' firmware print them.
    Rule(r"\bPM9A3\b", "pm9a3"),
    Rule(r"\bPM983\b", "pm983"),
    Rule(r"\bPM1725a\b", "pm1725a"),
    Rule(r"\bPM1725b\b", "pm1725a", "PM1725b"),
    Rule(r"\bPM1733\b", "pm1733"),
    Rule(r"\bPM1735\b", "pm1733", "PM1735"),
    Rule(r"\bPM1743\b", "pm1743"),
    Rule(r"\bPM1643\b", "pm1643"),
    Rule(r"\bPM1643a\b", "pm1643", "PM1643a"),
    Rule(r"\bPM1653\b", "pm1653"),
    Rule(r"\bP(4500|4610|5500|5520|5600|5336|5810)\b", r"p\1"),
    Rule(r"\bP4510\b", "p4500", "P4510"),
    Rule(r"\bP4600\b", "p4610", "P4600"),
    Rule(r"\bP5510\b", "p5500", "P5510"),
    Rule(r"\bP5620\b", "p5600", "P5620"),
    Rule(r"\bCM7\b.*\bRI\b|\bCM7-R\b", "cm7-r"),
    Rule(r"\bCM6\b.*\bRI\b|\bCM6-R\b", "cm6-r"),
    Rule(r"\bCM6\b.*\bMU\b|\bCM6-V\b", "cm6-v"),
    Rule(r"\bCD6\b.*\bRI\b|\bCD6-R\b", "cd6-r"),
    Rule(r"\bCD7\b", "cd7"),
    Rule(r"\bCD8\b", "cd8"),
    Rule(r"\b7450\b.*\b(RI|PRO)\b", "micron-7450-pro"),
    Rule(r"\b7450\b.*\b(MU|MAX)\b", "micron-7450-max"),
    Rule(r"\b7(300|400)\b.*\b(RI|PRO)\b", r"micron-7\1"),
    Rule(r"\bPE8110\b", "pe8110"),
    Rule(r"\bSN850X\b", "sn850x"),
    Rule(r"Samsung SSD 970 EVO\b(?! Plus)", "970-evo-plus", "970 EVO"),
    Rule(r"Samsung SSD (\d{3}) (PRO|EVO Plus|EVO)\b", r"\1-\2"),
    Rule(r"Samsung SSD (980)\b(?! PRO)", r"\1"),
)  # fmt: skip
"""Asked in this order."""

CUT = (
    (r"^SSDSC2KB\d{0,2}$", ("s4500",), "S4500, S4510 or S4520"),
    (r"^SSDSC2KG\d{0,2}$", ("s4600", "s4610"), "S4600, S4610 or S4620"),
    (r"^SSDPE2KX\d{0,3}$", ("p4500",), "P4500 or P4510"),
    (r"^SSDPE2KE\d{0,3}$", ("p4610",), "P4600 or P4610"),
)  # fmt: skip
"""Models that end before the digit of the generation: pattern, candidates, what they may be."""

_VENDOR = re.compile(
    r"^(?:ATA|HGST|HITACHI|WDC|WD|TOSHIBA|KIOXIA|SAMSUNG|INTEL|SOLIDIGM|SEAGATE|KINGSTON|NVME"
    r"|MICRON(?:_\d{4})?|DELL|HPE?|LENOVO(?:-X)?|IBM(?:-ESXS)?|FUJITSU|NETAPP|SANDISK)[ _]+",
    re.IGNORECASE,
)


def without_vendor(text: str) -> str:
    """A model without what stands before its part number."""
    found = text.strip()
    while (cut := _VENDOR.sub("", found, count=1)) != found:
        if re.match(r"SSD \d{3}\b", cut):
            # A client drive's name, `Samsung SSD 980`, is no part number.
            return found
        found = cut
    return found


def rule_of(text: str) -> tuple[Rule, list[str]] | None:
    """The first rule that a model meets, and the stems of its line, the nearest first."""
    for spelling in (without_vendor(text), text.strip()):
        for rule in RULES:
            match = re.search(rule.pattern, spelling, re.IGNORECASE)
            if match is not None:
                stems = match.expand(rule.stem) if "\\" in rule.stem else rule.stem
                return rule, stems.lower().replace(" ", "-").split("|")
    return None


_SPEEDS = (
    # Seagate: the second letter of the family tells 7200 (nearline), 10,000 and 15,000 apart.
    (r"^ST\d+N[MX]\d", 7200),
    (r"^ST\d+MM\d", 10_000),
    (r"^ST\d+MP\d", 15_000),
    # HGST, and WD's Ultrastar: hundreds of revolutions a minute behind three letters.
    (r"^(?:H[UDTC][ACHNPST]|WU[HS])54\d", 5400),
    (r"^(?:H[UDTC][ACHNPST]|WU[HS])72\d", 7200),
    (r"^HU[CS]10\d", 10_000),
    (r"^HU[CS]15\d", 15_000),
    # Toshiba: AL, generation, S, then E for 10,500 or X for 15,000; MG is nearline.
    (r"^AL\d\dSE[BL]?\d", 10_500),
    (r"^AL\d\dSX[BL]?\d", 15_000),
    (r"^(MG\d\d[AS]|HDW[EFGNR]\d|DT01ACA|MK\d{4}T[RS]KB)", 7200),
    (r"^MK\d{4}GRRB", 15_000),
    (r"^MQ0\dA", 5400),
    # Seagate until 2011: form, gigabytes, three digits of which the middle one is 5 for 15,000.
    (r"^ST[39]\d{2,3}\d5\d(SS|FC|LC|LW)", 15_000),
    (r"^ST[39]\d{2,3}\d0\d(SS|FC|LC|LW)", 10_000),
    (r"^ST[39]\d{5,7}NS|^ST[39][1-4]000\d{3}SS", 7200),
    # Fujitsu: MA and MB, then the line.
    (r"^(MA[XU]|MB[AE])\d{4}[RNF]C", 15_000),
    (r"^(MA[WTY]|MB[BD])\d{4}[RNF]C", 10_000),
    # HP: E for enterprise or M for midline, form and speed, gigabytes.
    (r"^[DE]G\d{3,6}", 10_000),
    (r"^[DE][FH]\d{3,6}", 15_000),
    (r"^M[BM]\d{4,6}[A-Z]", 7200),
    # NetApp: X and the shelf's number, maker and line, capacity, A and thousands of revolutions.
    (r"^X\d{3}_\w{5}\w*A07", 7200),
    (r"^X\d{3}_\w{5}\w*A10", 10_000),
    (r"^X\d{3}_\w{5}\w*A15", 15_000),
    # WD: the letter before the interface is speed and buffer.
    (r"^WD\d+[A-Z]{2}[EYGBL][XZS]", 7200),
    (r"^WD\d+[A-Z]{2}R[XZ]", 5400),
)
"""Revolutions a minute by part number, where a maker's scheme has them."""


_KINDS = (
    # Seagate's SSDs have FM, FN or HM behind the capacity, or begin with X or Z.
    (r"^(ST\d+(FM|FN|HM)\d|X[SAPF]\d+[A-Z]{2}\d|XF\d{4}-)|.*\bZ[AP]\d+[A-Z]{2}\d", "ssd"),
    (r"^ST\d{3,}", "hdd"),
    # HGST: S in the third place and a letter behind it; all other letters are disks.
    (r"^HUS[SM][LMPR]\d", "ssd"),
    (r"^(H[UDTC][ACHNPST]|WU[HS])\d", "hdd"),
    (r"^(WDS\d{3}|WUST[RM])", "ssd"),
    (r"^WD\d+[A-Z]{4}", "hdd"),
    (r"^(MG\d\d[AS]|MK[1-9]\d{3}[GT]|AL\d\dS|MQ\d|DT0\dA|HDW[A-Z])", "hdd"),
    (r"^(THNS|K[XB]G|KC[DM]|KPM|KRM|PX0\dS)", "ssd"),
    (r"^(MA|MB|MH)[A-Z]\d{4}", "hdd"),
    (r"^(MZ[A-Z0-9]|SSD[SP][A-Z]|SBF|MTFD|HFS\d|TS\d+G|S(A|KC|UV|NV|EDC)\d)", "ssd"),
    # HP and HPE: flash begins with these; disks have their speed above.
    (r"^(MO|EO|VO|VK|MK|MR|LK|EK|MT|LT|LO|XS|VS)\d{4,6}[A-Z]", "ssd"),
    (r"^SD[5-9A-Z][A-Z]", "ssd"),
    (r"^HD\d{3}[A-Z]{2}", "hdd"),
)
"""What a part number is of, by its maker's scheme."""


def stated_kind(text: str) -> str | None:
    """`hdd` or `ssd` by the scheme of a model's maker; None where none says it."""
    plain = without_vendor(text)
    if "SSD" in text or "MEMPE" in text:
        return "ssd"
    found = next((kind for pattern, kind in _KINDS if re.match(pattern, plain)), None)
    return found or ("hdd" if stated_speed(text) else None)


_QLC = re.compile(
    # Samsung's QVO; Crucial's P1 to P3; N behind Intel's form; Q behind Micron's capacity.
    r"\bQVO\b|CT\d+P[123](PLUS)?SSD|SSDP[EF]KN|SSDPF2N|SBFPF|MTFD[A-Z]{3}\w{3,4}Q",
    re.IGNORECASE,
)


def is_qlc(text: str) -> bool:
    """True of a model that its maker makes of cells with four bits."""
    return _QLC.search(text) is not None


def stated_speed(text: str) -> int | None:
    """Revolutions a minute that a model's own text states, by its maker's scheme; else None."""
    plain = without_vendor(text)
    return next((rpm for pattern, rpm in _SPEEDS if re.match(pattern, plain)), None)


_CAPACITIES = (
    # Seagate until 2011: form, gigabytes, three digits.
    (r"^ST[39](\d{2,4})\d{3}(?:SS|NS|AS|FC|LC|LW|SV|NA)", 10**9),
    # HGST and WD: generation and largest size, then terabytes, or tenths of them until 6 TB.
    (r"^(?:HUH|WUH|WUS)72[12]\d(\d\d)", 10**12),
    (r"^HUS72[46]0(\d\d)|^HUH7280(\d\d)", 10**11),
    (r"^HUS72\dT(\d)T", 10**12),
    (r"^HUA72[1-3]0(10|20|30)", 10**11),
    # WD: of four digits two are the version; E, F, J count tenths of TB, A, B, H tens of GB.
    (r"^WD(\d\d)[A-Z]{4}|^WD(\d\d)\d\d[EFJ]", 10**11),
    (r"^WD(\d\d)\d[EFKPS][A-Z]{3}", 10**12),
    (r"^WD(\d\d)\d\d[ABH][A-Z]", 10**10),
    (r"^WDS(\d{3})T", 10**10),
    (r"^(?:WDS|HFS)(\d{3})G", 10**9),
    # Fujitsu: form, gigabytes. Toshiba: gigabytes, a digit of the line; or terabytes and 00.
    (r"^(?:MA[XY]|MB[A-F])\d(\d{3})[RF]C", 10**9),
    (r"^MK(\d{3})\dG", 10**9),
    (r"^MK(\d)00\dT", 10**12),
    (r"^MG\d\d[A-Z]{3}(\d)00", 10**12),
    # Samsung: MZ, three of form and line, three of the size. Micron: MTFD and three.
    (r"^MZ[A-Z0-9]{3}(\d{3})", 10**9),
    (r"^MZ[A-Z0-9]{3}(\d\d)T", 10**12),
    (r"^MTFD[A-Z]{3}(\d{3})[A-Z]", 10**9),
    # Kingston: line, form, size.
    (r"^S[A-Z]{1,3}\d+(?:S37|S3|M8|MS)(\d+)G", 10**9),
    (r"^S[A-Z]{1,3}\d+(?:S37|S3|M8|MS)(\d+)T", 10**12),
    # HP: gigabytes, with leading zeros. NetApp: gigabytes before A and the speed.
    (r"^(?:[DEM][BFGHM]|[MEVL][OKTR])(\d{4}|\d{6})[A-Z]", 10**9),
    (r"^X\d{3}_[A-Z]+(\d{3,4})A\d\d", 10**9),
)
"""Part numbers that hold their size, and its unit in bytes."""
_STATED = re.compile(r"(\d+(?:\.\d+)?)\s?(TB|GB|T|G)\b", re.IGNORECASE)


def stated_capacity(text: str) -> int | None:
    """Bytes that a model's own text states: `3.84TB`, `480G`, `7T68` or `ST16000`; else None."""
    plain = without_vendor(text)
    seagate = re.match(r"ST(\d{3,5})[A-Z]{2}", plain)
    if seagate is not None:
        return int(seagate[1]) * 10**9
    toshiba = re.match(r"MG\d\d[A-Z]{3}(\d+)T", plain)
    if toshiba is not None:
        return int(toshiba[1]) * 10**12
    coded = re.match(r"MZ[A-Z0-9]{3}(\d)T(\d)", plain) or re.search(
        r"(?<!\d)(\d{1,2})T(\d{1,2})(?=[A-Z]|$)", "" if plain.startswith("MZ") else plain
    )
    if coded is not None:
        return round(float(f"{coded[1]}.{coded[2]}") * 10**12)
    intel = re.match(r"SSD\w{5}(\d{3})([TG])", plain)
    if intel is not None:
        return int(intel[1]) * (10**11 if intel[2] == "T" else 10**9)
    for pattern, unit in _CAPACITIES:
        named = re.match(pattern, plain)
        if named is not None:
            return int(next(filter(None, named.groups()))) * unit
    match = _STATED.search(text)
    if match is None:
        return None
    return round(float(match[1]) * (10**12 if match[2].upper().startswith("T") else 10**9))
