"""Client or server: for which of both markets an SSD is made, and what says so.

It decides what a sync write costs. A server SSD has capacitors (power-loss protection) and answers
a flush from its buffer; a client SSD must program what it holds first. What a capture states goes
before the maker's scheme of part numbers, that before the capacity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from raidlab.calibration.discover.facts import Drive

Name = Literal["client", "server"]


@dataclass(frozen=True)
class Segment:
    """For whom an SSD is made, and why that is taken."""

    name: Name
    why: str
    decided: bool = True
    """False if nothing says it."""


@dataclass(frozen=True)
class Rule:
    """A maker's scheme: part numbers that begin so, here or behind the maker's name."""

    pattern: str
    segment: Name
    source: str
    """What publishes the scheme."""


RULES: Final = (
    # Samsung: MZ, form, line. 7 is 2.5 inch, N and V are M.2 2280, AL and 9 are smaller boards.
    Rule(r"Samsung SSD \d{3} (DCT|ZET)", "server", "Samsung: 860, 883, 983 DCT, 983 ZET"),
    Rule(r"Samsung SSD \d{3,4}", "client", "Samsung: consumer SSDs are numbered"),
    Rule(r"MZ-?(7(L[HM3]|K[HMN]|WD|GE)|NLH)", "server", "Samsung's decoder: data centre SATA"),
    Rule(r"MZ-?(I|Q|W|P[LT]|T|XL|[1-6][A-Z])", "server", "Samsung's decoder: SAS, U.2, E1.S, card"),
    Rule(r"MZ-?(7|N|M|V|AL|9|HP)", "client", "Samsung's decoder: client SATA, M.2, mSATA, BGA"),
    Rule(r"(PM8[34578]1|[PS]M9[5-9]1|PM9[A-F]1)\w?(?!\w*/)", "client", "Samsung: OEM client lines"),
    Rule(r"([SP]M(8[689]3|897|9[5-8]3|1\d{3})|PM9[A-F]3)", "server", "Samsung: data centre lines"),
    # Crucial sells to consumers alone: CT, gigabytes, line, SSD and form.
    Rule(r"(M4-|CRUCIAL_)?CT\d+\w*SSD|C[34]00-", "client", "crucial.com: part numbers"),
    # Micron: thousands up to 4 are client lines, from 5 on data centre ones; M500DC and M510DC.
    Rule(r"M[56]\d{2}DC", "server", "micron.com: data centre SSDs"),
    Rule(r"Micron[ _](M[56]\d{2}|[1-4]\d{3})(?!\d)", "client", "micron.com: client SSDs"),
    Rule(r"Micron[ _][5-9]\d{3}(?!\d)", "server", "micron.com: data centre SSDs"),
    # Kingston: S and the line, E for enterprise; without its name the lines of consumers.
    Rule(r"SE(DC|50|100)|DC\d{3,4}\w?\b", "server", "kingston.com: data centre SSDs"),
    Rule(r"KINGSTON[ _]\w+|S(A400|A2000|UV\d{3}|KC\d{3,4}|NV[S\d]|FYR|V[23]00|HFS|HSS)", "client",
         "kingston.com: consumer and OEM SSDs"),
    # WD and SanDisk: WDS is retail, behind it D0D is Gold; WUS, HUS and SDL are Ultrastar.
    Rule(r"WDS\d{3}[GT]\wD0", "server", "westerndigital.com: model numbers, WD Gold"),
    Rule(r"WDS\d{3}[GT]", "client", "westerndigital.com: model numbers"),
    Rule(r"(WUS|HUS[MPS]|SDL[FLT])\w|DC S[ANX]\d{3}", "server", "westerndigital.com: Ultrastar"),
    Rule(r"PC S[ANX]\d{3}|WD[ _]?(BLACK|BLUE|GREEN|RED)\b", "client", "westerndigital.com"),
    Rule(r"SanDisk (SSD|Ultra|Extreme)|SDSSD|SD[5-9][STU]|SDAP[NTM]|SDBP", "client",
         "SanDisk: retail and client OEM"),
    # Intel, Solidigm: the letters behind SSDSC2, SSDPE and SSDPF are form and product family.
    Rule(r"SSDSC[12K][A-Z][WFTIH]|SSDSA[12](M|[BC]W)", "client", "Intel's decoder: 3xx, 5xx, Pro"),
    Rule(r"SSDPEKK[AR]", "server", "Intel's decoder: DC P4101"),
    Rule(r"SSDP[EF]K", "client", "Intel's decoder: M.2 2280, 600p to P44 Pro"),
    Rule(r"SSDSC|SSDSA|SSDP[EF][2DL]|SSDPD|SBFP", "server", "Intel's decoder: data centre"),
    # smartctl's database names families: client drives, SSDNow of Kingston.
    Rule(r"Client SSDs?\b|SSDNow", "client", "the family by smartmontools' drivedb.h"),
    # Micron's and SK hynix' OEM numbers have the line in letters, but the size says the market.
    Rule(r"(MTFD[A-Z]{3}|HFS)(240|480|960|\d+T[2-9])", "server", "their sizes of data centre SSDs"),
    Rule(r"MTFD[A-Z]{3}(\d{3}|\dT0)|HFS(\d{3}G|00\dT)", "client", "their sizes of client SSDs"),
    # SK hynix: PC, BC, SC are client lines, PE and SE server ones.
    Rule(r"(PE|SE)\d{4}(?!\d)", "server", "SK hynix: enterprise SSDs"),
    Rule(r"SK ?hynix[ _][PBS]C\d{3}|[PBS]C\d{3} .*SK ?hynix|SH[GPS]P\d\d-", "client",
         "SK hynix: client SSDs"),
    # Toshiba, Kioxia: XG, BG, THNSN are client lines; CD, CM, PM, RM, HK, THNSN8 server ones.
    Rule(r"(KC[DM]|K[PRH][MK]|KL[CD])\w|THNSN8|THNSF|PX0\dS", "server", "Kioxia: enterprise"),
    Rule(r"K[XB]G\d|THNSN|TOSHIBA-(TR|TL|VT|RC|RD)|(KIOXIA-)?EXCERIA", "client",
         "Toshiba, Kioxia: XG, BG, SG, HG and retail"),
    # Seagate: Z and A for SATA, P for PCIe, capacity, then C or G for consumers; Nytro has X.
    Rule(r"Z[AP]\d+[CG][MV]", "client", "seagate.com: BarraCuda, FireCuda"),
    Rule(r"X[ASPF]\d+[A-Z]{2}\d|Z[AP]\d+N[MX]|ST\d+F[MNP]\d", "server", "seagate.com: Nytro"),
    # HPE: two letters, gigabytes. Others name the market in words.
    Rule(r"(MO|EO|VO|VK|MK|MR|LK|EK|MT|LT|LO|XS|VS)\d{4,6}[A-Z]", "server", "HPE's QuickSpecs"),
    Rule(r"(Ent|Enterprise|DC|Data ?Cent(er|re)|RI|MU|WI)\b", "server", "its market in words"),
    Rule(r"(APPLE SSD|ADATA|XPG|PNY|Patriot|T-?FORCE|TEAM|Corsair|Force|Lexar|SPCC|Sabrent|OCZ-"
         r"|GIGABYTE|GOODRAM|SSDPR-|PLEXTOR|PX-\d|INTENSO|Verbatim|Netac|KingSpec|Fanxiang|LITEON"
         r"|UMIS|SSSTC|MSI|AEGO|HP SSD|TS\d+G(SSD|MT)|BIWIN|HIKSEMI|Acer|addlink|KLEVV"
         r"|Inland|Viper|Silicon Power|Mushkin|Colorful|Ramaxel|LENSE)", "client",
         "a maker of consumer or laptop drives"),
)  # fmt: skip
"""Asked in this order, each at the begin of a word of the model."""

_RULES: Final = tuple((re.compile(rf"(?:^|[\s_])(?:{e.pattern})", re.I), e) for e in RULES)

_CLIENT_GB: Final = (32, 60, 64, 120, 128, 250, 256, 275, 500, 512, 525, 750, 1000, 1024, 1050,
                     2000, 2048, 2050, 4000, 4096, 8000, 8192)  # fmt: skip
"""Powers of two, and decimal sizes with little spare space: client drives."""
_SERVER_GB: Final = (100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 1920, 3840, 7680, 15_360,
                     30_720, 61_440, 122_880)  # fmt: skip
"""Of the same flash with a fifteenth, or more than a fifth, kept spare: server drives."""
_BOTH_GB: Final = (240, 480, 960)
"""Boot drives of servers, and consumer drives."""
_SAME_SIZE: Final = 0.03
"""lsblk rounds 1.92 TB to 1.7T."""


def by_model(text: str) -> Segment | None:
    """The segment of a model as a machine prints it; None if no maker's scheme says it."""
    for form, rule in _RULES:
        found = form.search(text)
        if found is not None:
            mark = found[0].strip(" _")
            return Segment(rule.segment, f"by its model {mark} ({rule.source})")
    return None


def by_size(size: int | None) -> Segment | None:
    """The segment that alone has a capacity; None if both have it, or none."""
    if not size:
        return None
    every = (*_CLIENT_GB, *_SERVER_GB, *_BOTH_GB)
    nearest = min(every, key=lambda gb: abs(size / (gb * 1e9) - 1))
    if abs(size / (nearest * 1e9) - 1) > _SAME_SIZE or nearest in _BOTH_GB:
        return None
    name: Name = "client" if nearest in _CLIENT_GB else "server"
    return Segment(name, f"by its size of {nearest:,} GB")


def segment_of(drive: Drive, family: str | None, size: int | None) -> Segment:
    """For whom an SSD is made: the first of what captures, model and size say.

    Args:
        drive: The SSD.
        family: `sata`, `sas`, `nvme`; None if unknown.
        size: Bytes, if they are known.
    """
    without = drive.volatile_write_cache is False or drive.drive_cache == "no volatile cache"
    if family == "sas":
        return Segment("server", "as client drives have no SAS")
    if drive.protected:
        return Segment("server", "as its SMART data name a capacitor against power loss")
    if family == "nvme" and without:
        return Segment("server", "as it has no volatile write cache (vwc)")
    model = by_model(drive.model or "") or by_model(drive.family or "")
    if model is not None:
        return model
    sized = by_size(size)
    if sized is not None and sized.name == "server":
        # Some drives with capacitors report a volatile cache all the same.
        return sized
    if family == "nvme" and (drive.volatile_write_cache or drive.drive_cache == "on"):
        return Segment("client", "as it has a volatile write cache (vwc)")
    if drive.sleeps:
        return Segment("client", "as it goes to sleep by itself (apsta, DEVSLP)")
    if sized is not None:
        return sized
    if (drive.form or "").startswith("m.2"):
        return Segment("client", "as an M.2 board has little room for capacitors")
    return Segment("server", "though no capture says it", decided=False)
