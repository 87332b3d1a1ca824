"""What performance counters are called: by Windows in its languages, and by esxtop.

Windows translates every word of a counter. What a counter is follows from a few of them: the
direction (`Read`, `Lese`, `lecture`), bytes or requests, a mean with a time before the slash
(latency) or bytes before it (size), a queue, a share of time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from raidlab.calibration.monitoring.numbers import MIB
from raidlab.calibration.monitoring.samples import Layer, Quantity

Q = Quantity


@dataclass(frozen=True)
class Counted:
    """What a counter holds; without a quantity it is known and not used."""

    quantity: Quantity | None
    scale: float = 1.0
    rest: bool = False
    """True if it is 100 less the quantity: idle time."""
    first: bool = False
    """True if it goes before others for the same quantity."""


_IGNORED = Counted(None)
_READ = re.compile(
    r"read|lese|gelesen|lect|lett|\blu(?:s|es)?\b|leitura|lido|lezen|gelezen|lees|чтен|прочит|odczyt"
    r"|läs|lästa|læs|luku|luet|čten|čtení|olvas|okuma|読み取|读取|讀取|읽기|读"
)
_WRITE = re.compile(
    r"writ|schreib|geschrieben|escrit|écri|ecri|scritt|scrit|gravaç|gravad|schrijf|geschreven|запис"
    r"|zapis|skriv|skrev|kirjoit|zápis|írás|yazma|書き込|写入|寫入|쓰기|写"
)
_BYTES = re.compile(r"byte|octet|байт|bajt|bájt|bayt|tavu|バイト|字节|位元組|바이트|bajtů")
_QUEUE = re.compile(
    r"queue|warteschlange|file d.attente|\bcola\b|\bcoda\b|\bfila\b|wachtrij|очеред|kolejk|kölängd"
    r"|\bkø|jono|front|sor hossz|kuyru|キュー|队列|佇列|대기열|큐"
)
_NOW = re.compile(
    r"current|aktuelle|actuelle|actual|corrente|atual|huidige|текущ|bieżąc|aktuell|nykyinen"
    r"|aktuální|jelenlegi|geçerli|現在|当前|目前|현재"
)
_SHARE = re.compile(r"%|percent|pourcent|porcent|prozent|процент|procent|パーセント|百分比")
_IDLE = re.compile(
    r"idle|leerlauf|inactiv|inattiv|ocios|inactief|просто|бездейств|bezczyn|inaktiv|joutil|nečinn"
    r"|tétlen|boş|アイドル|空闲|閒置|유휴"
)
_SPLIT = re.compile(
    r"split|geteilt|fractionn|dividid|suddivi|divis|gesplitst|расщепл|podziel|分割|拆分"
)
_RATE = re.compile(
    r"/\s*(?:s|sec|seg|sek|сек|с|сек\.|秒|초|mp|sn)\.?\s*\)?$|每秒|毎秒"
    r"|per sec|pro sek|par sec|por seg|al sec|в сек|na sek"
)
_MEAN = re.compile(
    r"avg|average|mittlere|durchschn|moyen|promedio|media|médi|medio|gemid|\bgem\.|средн|średn|genomsn"
    r"|gennemsn|keskim|průměr|átlag|ort\b|ortalama|平均|평균"
)
_SECONDS = re.compile(
    r"\bsec\b|\bsec\.|sek|seg|\(с\)|\(s\)|\bs\b|\bs/|second|сек|秒|초|\bmp\b|\bsn\b|waktu|tempo"
)
_TRANSFER = re.compile(
    r"transf|übertrag|передач|обмен|przesł|överför|overfør|siirto|přenos|átvitel|aktar|転送|传输|傳輸|전송"
)


def perfmon_layer(name: str) -> Layer | None:
    """Where an object's instances stand; None if it is no object of disks."""
    low = name.lower()
    if re.search(
        r"(?:physical|physisch|physikal|phys|f[ií]sic|fysi|fizy|физич|物理|실제|물리|fizik|fyzick|fizikai)",
        low,
    ):
        return Layer.DISK if _disk(low) else None
    if re.search(
        r"(?:logical|logisch|log(?:iqu|ic)|lógic|logiczn|логич|論理|逻辑|邏輯|논리|mantıks|logick|logikai)",
        low,
    ):
        return Layer.ABOVE if _disk(low) else None
    return None


def _disk(low: str) -> bool:
    return bool(
        re.search(
            r"dis[ckq]|datenträger|schijf|диск|dysk|ディスク|磁盘|磁碟|디스크|levy|lemez", low
        )
    )


def perfmon_counter(name: str) -> Counted | None:
    """What a counter of Windows is; None if no word of it is known."""
    low = name.strip().lower()
    if _SPLIT.search(low):
        return _IGNORED
    side = "r" if _READ.search(low) else ""
    side = ("" if side else "w") if _WRITE.search(low) else side
    if _QUEUE.search(low):
        if _NOW.search(low) or side:
            return _IGNORED
        return Counted(Q.QUEUE)
    if _SHARE.search(low) or _IDLE.search(low):
        return Counted(Q.UTIL, 1.0, rest=True) if _IDLE.search(low) and not side else _IGNORED
    if re.search(r"zeit|time|temps|tiempo|tempo|время|czas", low) and not _SECONDS.search(low):
        return _IGNORED
    rate = bool(_RATE.search(low))
    if _BYTES.search(low):
        if rate and not _MEAN.search(low):
            return Counted({"r": Q.READ_BYTES, "w": Q.WRITE_BYTES, "": Q.BYTES}[side])
        return Counted({"r": Q.READ_SIZE, "w": Q.WRITE_SIZE, "": Q.SIZE}[side])
    if _MEAN.search(low) and _SECONDS.search(low):
        return Counted({"r": Q.R_AWAIT, "w": Q.W_AWAIT, "": Q.AWAIT}[side], 1000.0)
    if rate and (side or _TRANSFER.search(low)):
        return Counted({"r": Q.READS, "w": Q.WRITES, "": Q.IOS}[side])
    return None


_ESXTOP = {
    "commands/sec": Counted(Q.IOS),
    "reads/sec": Counted(Q.READS),
    "writes/sec": Counted(Q.WRITES),
    "mbytes read/sec": Counted(Q.READ_BYTES, MIB),
    "mbytes written/sec": Counted(Q.WRITE_BYTES, MIB),
    "average driver millisec/command": Counted(Q.AWAIT, first=True),
    "average driver millisec/read": Counted(Q.R_AWAIT, first=True),
    "average driver millisec/write": Counted(Q.W_AWAIT, first=True),
    "average guest millisec/command": Counted(Q.GUEST_AWAIT),
    "average millisec/command": Counted(Q.AWAIT),
    "average millisec/read": Counted(Q.R_AWAIT),
    "average millisec/write": Counted(Q.W_AWAIT),
    "device q depth": Counted(Q.QUEUE_LIMIT),
}
_ESXTOP_OBJECTS = {
    "physical disk scsi device": Layer.DISK,
    "physical disk": Layer.DISK,
    "physical disk adapter": Layer.ADAPTER,
    "disk adapter": Layer.ADAPTER,
    "physical disk path": Layer.ADAPTER,
    "physical disk nfs volume": Layer.DISK,
    "physical disk partition": Layer.PARTITION,
    "virtual disk": Layer.ABOVE,
    "physical disk per-device-per-world": Layer.PARTITION,
}


def esxtop_layer(name: str) -> Layer | None:
    """Where an object of esxtop stands; None if it is no object of disks."""
    return _ESXTOP_OBJECTS.get(name.strip().lower())


def esxtop_counter(name: str) -> Counted:
    """What a counter of esxtop is."""
    return _ESXTOP.get(name.strip().lower(), _IGNORED)
