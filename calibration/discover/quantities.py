"""Numbers as storage tools print them: sizes, link speeds, RAID levels, states.

Whether MB means 10^6 or 2^20 bytes is a rule of each tool, so each reader says which it is.
"""

from __future__ import annotations

import re

_POWERS = {unit: power for power, unit in enumerate("KMGTPE", 1)}
_SIZE = re.compile(r"<?\s*(\d[\d.,]*)\s*([KMGTPE])?(i?)(?:B|bytes?|O)?\b", re.IGNORECASE)
_ENDS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def number(text: str) -> float | None:
    """A number with a decimal point or a decimal comma; None if there is none.

    With both signs, the last one is the decimal sign.
    """
    match = re.search(r"-?\d[\d.,]*", text)
    if match is None:
        return None
    digits = match[0].rstrip(".,")
    point, comma = digits.rfind("."), digits.rfind(",")
    thousands, decimal = (".", ",") if comma > point else (",", ".")
    digits = digits.replace(thousands, "").replace(decimal, ".")
    try:
        return float(digits)
    except ValueError:
        return None


def whole(text: object) -> int | None:
    """A whole number, with or without separators of thousands; None if there is none."""
    if isinstance(text, bool) or text is None:
        return None
    if isinstance(text, int):
        return text
    if isinstance(text, float):
        return round(text)
    match = re.match(r"\s*(0x[0-9a-fA-F]+|\d{1,3}(?:[.,'\s  ]\d{3})+|\d+)", str(text))
    if match is None:
        return None
    if match[1].lower().startswith("0x"):
        return int(match[1], 16)
    return int(re.sub(r"\D", "", match[1]))


def size(text: object, *, decimal: bool = False) -> int | None:
    """Bytes of a size such as `3.492 TB`, `9,1T`, `512K` or `446.625 GiB`.

    Args:
        text: What the tool prints.
        decimal: True if the tool's units without an `i` are powers of 1,000.
    """
    if isinstance(text, int | float) and not isinstance(text, bool):
        return round(text)
    match = _SIZE.search(str(text or ""))
    value = None if match is None else number(match[1])
    if match is None or value is None:
        return None
    base = 1000 if decimal and not match[3] else 1024
    return round(value * float(base) ** _POWERS.get((match[2] or "").upper(), 0))


def binary(value: int | None) -> str | None:
    """A size as `512 KiB`, `1 GiB` or `1.8 GiB`; None of nothing."""
    if not value:
        return None
    if value < 1 << 30 and value % (1 << 20) and value >= 1 << 10 and not value % (1 << 10):
        return f"{value // 1024} KiB"
    for step, unit in _ENDS:
        if value >= step:
            return f"{round(value / step, 3):g} {unit}"
    return f"{value} B"


def binary_size(text: object) -> str | None:
    """A size that counts in powers of 1,024, as `512 KiB`."""
    return binary(size(text))


def bytes_of(text: str | None) -> int | None:
    """Bytes of a text that `binary` made."""
    return size(text)


_LANE_MBPS = {1: 250.0, 2: 500.0, 3: 985.0, 4: 1969.0, 5: 3938.0, 6: 7563.0}
_TRANSFERS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}


def pcie_generation(text: str | None, width: int | None = None) -> int | None:
    """Generation of PCI Express from `8GT/s`, `8.0 GT/s PCIe`, `8000 MHz`, `Gen3`, `PCIe 3.0`."""
    if not text:
        return None
    match = re.search(r"(?:gen(?:eration)?\s*|pcie?\s*-?e?\s*)([1-6])(?:\.0)?\b", text, re.I)
    value = number(text)
    if match is not None and "GT/s" not in text:
        return int(match[1])
    if value is None:
        return None
    if re.search(r"MB(?:ps|/s)", text, re.I) and width:
        lane = value / width
        return min(_LANE_MBPS, key=lambda gen: abs(_LANE_MBPS[gen] - lane))
    if re.search(r"MHz|MT/s", text, re.I):
        value /= 1000
    elif not re.search(r"GT/s|GHz", text, re.I):
        return None
    return _TRANSFERS.get(value)


def pcie_link(text: str | None) -> tuple[int, int] | None:
    """Generation and lanes of `PCIe 3.0 x4 (3940 MB/s)`, as Microchip's tools print them."""
    match = re.search(r"PCIe\s*(?:Gen)?\s*([1-6])(?:\.\d)?\s*x\s*(\d+)", text or "", re.IGNORECASE)
    return None if match is None else (int(match[1]), int(match[2]))


def line_rate(text: object) -> str | None:
    """The generation of SATA or SAS by its line rate: `6g` of `6.0 Gb/s`; None if unknown."""
    match = re.search(r"(\d+(?:[.,]\d+)?)\s*-?G(?:b|bit)?(?:/s|ps)?\b", str(text or ""), re.I)
    if match is None:
        return None
    value = number(match[1])
    rates = {1.5: "1.5g", 3.0: "3g", 6.0: "6g", 12.0: "12g", 22.5: "24g", 24.0: "24g"}
    return None if value is None else rates.get(value)


def interface(family: str | None, rate: object = None) -> str | None:
    """`sata-6g` of a family and a line rate; the family alone if the rate is unknown.

    SATA ends at 6 Gb/s: a faster rate is that of an expander's link before the drive.
    """
    word = (family or "").lower()
    if "nvme" in word or "pcie" in word:
        return "nvme"
    found = next((name for name in ("sata", "sas") if name in word), None)
    speed = line_rate(rate)
    if found == "sata" and speed in ("12g", "24g"):
        speed = None
    return found if found is None or speed is None else f"{found}-{speed}"


def raid_level(text: str | None, spans: int | None = None) -> str | None:
    """A level's name as `raid10`, from any tool's spelling; None if it is none.

    Args:
        text: Such as `RAID 1+0`, `6 Reed-Solomon`, `RAID-5`, `Primary-1, Secondary-0`.
        spans: Groups that are striped: two groups of mirrors are RAID 10.
    """
    word = (text or "").strip().lower()
    primary = re.search(r"primary-(\d+)(?:,\s*secondary-(\d+))?", word)
    if primary is not None:
        level = {"11": "1e", "17": "1e"}.get(primary[1], primary[1])
        nested = (spans or 1) > 1 or primary[2] == "3"
        return f"raid{level}0" if nested and level in ("0", "1", "5", "6") else f"raid{level}"
    if word in ("linear", "container", "jbod"):
        return word
    if re.match(r"simple[_ ]volume", word):
        return "jbod"
    if "concat" in word or word == "span":
        return "linear"
    match = re.match(r"(?:raid|level)?[\s_-]*(1e0?|5ee|[156]\+0|[0-6]0?)(?![\d.+])", word)
    if match is None:
        return {"mirror": "raid1", "striped": "raid0", "stripe": "raid0"}.get(word)
    level = match[1].replace("+", "")
    if re.match(r"raid[\s_-]*1\s*\(\+0\)", word):
        level = "10"
    nested = (spans or 1) > 1 and level in ("1", "5", "6")
    return f"raid{level}0" if nested else f"raid{level}"


def flag(text: object) -> bool | None:
    """True or false of yes, enabled, on, 1 and their opposites; None of anything else."""
    if isinstance(text, bool):
        return text
    word = str("" if text is None else text).strip().lower()
    if re.match(r"(yes|enabled?|on|true|1|supported|present)\b", word):
        return True
    if re.match(r"(no|disabled?|off|false|0|absent)\b", word):
        return False
    return None


def zones(text: object) -> str | None:
    """Who manages the zones of a shingled disk, as `host-managed`; None if it has none."""
    found = re.search(r"(host|device|drive)[-_ ](managed|aware)", str(text or ""), re.IGNORECASE)
    if found is None:
        return None
    return f"{found[1].lower().replace('drive', 'device')}-{found[2].lower()}"


def on_off(text: object) -> str | None:
    """`on`, `off` or `default` of a setting of a drive's cache; None if it is none of them."""
    word = str(text or "").strip().lower()
    if "default" in word or word in ("unchanged", "existing"):
        return "default"
    found = flag(word)
    return None if found is None else ("on" if found else "off")


def pci_address(*numbers: int | None) -> str | None:
    """`0000:5e:00.0` of domain, bus, device and function; None if one is unknown."""
    if any(each is None for each in numbers) or len(numbers) != 4:
        return None
    domain, bus, device, function = (each or 0 for each in numbers)
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function:x}"


def state(text: object) -> str | None:
    """A state in lower case, without abbreviations in brackets; None if none is stated."""
    word = re.sub(r"\s*[(\[].*?[)\]]", "", str(text or "")).strip().lower().rstrip(".")
    return None if word in ("", "-", "na", "n/a", "unknown", "none") else word


def known_text(value: object) -> str | None:
    """A text without padding; None of nothing, `N/A` and the like."""
    text = " ".join(str("" if value is None else value).split())
    return None if text.lower() in ("", "-", "na", "n/a", "unknown", "none", "null") else text
