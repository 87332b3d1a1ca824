//! Tables whose columns are known.

use crate::columns::Column;
use crate::op_words::OpWords;
use crate::table::Layout;

/// The layout of a format; its first line may name the columns.
pub(super) fn layout(name: &str) -> Option<Layout> {
    Some(match name {
        "msr" => Layout {
            response: Some(column("ResponseTime:100ns")),
            identity: &["Hostname", "DiskNumber"],
            optional: 1,
            ..of(
                "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
                ["Type", "Offset:B", "Size:B", "Timestamp:100ns"],
            )
        },
        "spc" => Layout {
            identity: &["ASU"],
            word: "ASU ",
            ..of(
                "ASU,LBA,Size,Opcode,Timestamp",
                ["Opcode", "LBA:sector", "Size:B", "Timestamp:s"],
            )
        },
        "systor17" => Layout {
            response: Some(column("Response:s")),
            identity: &["LUN"],
            word: "LUN ",
            blank_op: true,
            ..of(
                "Timestamp,Response,IOType,LUN,Offset,Size",
                ["IOType", "Offset:B", "Size:B", "Timestamp:s"],
            )
        },
        "alibaba" => Layout {
            identity: &["device_id"],
            word: "device ",
            ..of(
                "device_id,opcode,offset,length,timestamp",
                ["opcode", "offset:B", "length:B", "timestamp:us"],
            )
        },
        "tencent" => Layout {
            identity: &["VolumeID"],
            word: "volume ",
            words: OpWords::Digit,
            ..of(
                "Timestamp,Offset,Size,IOType,VolumeID",
                ["IOType", "Offset:sector", "Size:sector", "Timestamp:s"],
            )
        },
        "vscsi" => Layout {
            response: Some(column("Response:us")),
            optional: 1,
            words: OpWords::Scsi,
            ..of(
                "Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp,Response",
                [
                    "Command Type",
                    "LBN:sector",
                    "IO Data Length:B",
                    "Time Stamp:us",
                ],
            )
        },
        _ => return None,
    })
}

/// A layout by the names of all columns, and the columns of operation, offset, size and time.
fn of(names: &'static str, [op, offset, size, time]: [&str; 4]) -> Layout {
    Layout {
        names,
        op: column(op),
        offset: column(offset),
        size: column(size),
        time: column(time),
        response: None,
        identity: &[],
        word: "",
        optional: 0,
        words: OpWords::Names,
        blank_op: false,
    }
}

fn column(text: &str) -> Column {
    let (name, unit) = text.split_once(':').unwrap_or((text, ""));
    Column {
        name: name.into(),
        unit: unit.into(),
    }
}
