//! Signatures that file systems, volume managers and RAID leave in a device's first and last
//! sectors. A device that has one contains data.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Where an offset counts from.
#[derive(Clone, Copy)]
enum From {
    Start,
    End,
}

struct Signature {
    name: &'static str,
    from: From,
    offset: u64,
    magic: &'static [u8],
}

const fn start(name: &'static str, offset: u64, magic: &'static [u8]) -> Signature {
    Signature {
        name,
        from: From::Start,
        offset,
        magic,
    }
}

const fn end(name: &'static str, offset: u64, magic: &'static [u8]) -> Signature {
    Signature {
        name,
        from: From::End,
        offset,
        magic,
    }
}

/// Offsets and magic numbers as the formats' own headers define them.
const SIGNATURES: &[Signature] = &[
    start("ext2/3/4 file system", 1080, &[0x53, 0xef]),
    start("XFS file system", 0, b"XFSB"),
    start("Btrfs file system", 0x10040, b"_BHRfS_M"),
    start(
        "bcachefs or bcache",
        4096 + 24,
        &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca],
    ),
    start("F2FS file system", 1024, &[0x10, 0x20, 0xf5, 0xf2]),
    start("JFS file system", 0x8000, b"JFS1"),
    start("ReiserFS file system", 0x10034, b"ReIsEr"),
    start("NTFS file system", 3, b"NTFS    "),
    start("exFAT file system", 3, b"EXFAT   "),
    start("SquashFS file system", 0, b"hsqs"),
    start("ISO 9660 file system", 0x8001, b"CD001"),
    start("GFS2 file system", 0x10000, &[0x01, 0x16, 0x19, 0x70]),
    start("OCFS2 file system", 0x2000, b"OCFSV2"),
    start("VMFS file system", 0x100000, &[0x0d, 0xd0, 0x01, 0xc0]),
    start("Ceph BlueStore", 0, b"bluestore block device"),
    start("Oracle ASM disk", 32, b"ORCLDISK"),
    start("LUKS encryption", 0, b"LUKS\xba\xbe"),
    start("BitLocker encryption", 3, b"-FVE-FS-"),
    start("LVM physical volume", 0, b"LABELONE"),
    start("LVM physical volume", 512, b"LABELONE"),
    start("LVM physical volume", 1024, b"LABELONE"),
    start("LVM physical volume", 1536, b"LABELONE"),
    start("NILFS2 file system", 1030, &[0x34, 0x34]),
    start("EROFS file system", 1024, &[0xe2, 0xe1, 0xf5, 0xe0]),
    start("APFS container", 32, b"NXSB"),
    start("ReFS file system", 3, b"ReFS"),
    start("UDF file system", 0x8001, b"BEA01"),
    start("Minix file system", 1040, &[0x7f, 0x13]),
    start("Minix file system", 1040, &[0x8f, 0x13]),
    start("Minix file system", 1040, &[0x68, 0x24]),
    start("Minix file system", 1040, &[0x78, 0x24]),
    start("Minix file system", 1048, &[0x5a, 0x4d]),
    start("HFS file system", 1024, b"BD"),
    start("HFS+ file system", 1024, b"H+"),
    start("HFS+ file system", 1024, b"HX"),
    start("BFS file system (SCO)", 0, &[0xce, 0xfa, 0xad, 0x1b]),
    start("BFS file system (BeOS)", 544, b"1SFB"),
    start("Cramfs file system", 0, &[0x45, 0x3d, 0xcd, 0x28]),
    start("ROM file system", 0, b"-rom1fs-"),
    start("UFS file system", 8192 + 1372, &[0x54, 0x19, 0x01, 0x00]),
    start("UFS file system", 65536 + 1372, &[0x19, 0x01, 0x54, 0x19]),
    start("VDO volume", 0, b"dmvdo001"),
    start("Stratis pool", 516, b"!Stra0tis"),
    start("SQLite database", 0, b"SQLite format 3\0"),
    start("swap area", 4086, b"SWAPSPACE2"),
    start("swap area", 4086, b"SWAP-SPACE"),
    start("swap area", 65526, b"SWAPSPACE2"),
    start("GPT partition table", 512, b"EFI PART"),
    start("GPT partition table", 4096, b"EFI PART"),
    start("DOS partition table or boot sector", 510, &[0x55, 0xaa]),
    start("md RAID member", 0, &[0xfc, 0x4e, 0x2b, 0xa9]),
    start("md RAID member", 4096, &[0xfc, 0x4e, 0x2b, 0xa9]),
    end("GPT partition table (copy)", 512, b"EFI PART"),
    end("GPT partition table (copy)", 4096, b"EFI PART"),
    end("DDF RAID member", 512, &[0xde, 0x11, 0xde, 0x11]),
    end("Intel RAID member", 1024, b"Intel Raid ISM Cfg Sig."),
];

/// Names of all signatures found, each once, in the table's order.
pub fn find(device: &File, size: u64) -> std::io::Result<Vec<&'static str>> {
    let mut found: Vec<&'static str> = Vec::new();
    for signature in SIGNATURES {
        let at = match signature.from {
            From::Start => signature.offset,
            From::End => size.saturating_sub(signature.offset),
        };
        if at + signature.magic.len() as u64 <= size && contains(device, at, signature.magic)? {
            found.push(signature.name);
        }
    }
    if md_at_the_end(device, size)? {
        found.push("md RAID member");
    }
    if zfs(device, size)? {
        found.push("ZFS member");
    }
    found.dedup();
    Ok(found)
}

fn contains(device: &File, at: u64, magic: &[u8]) -> std::io::Result<bool> {
    let mut bytes = vec![0; magic.len()];
    device.read_exact_at(&mut bytes, at)?;
    Ok(bytes == magic)
}

/// md superblocks 0.90 (last whole 64 KiB before the last 64 KiB) and 1.0 (8 KiB from the end,
/// on a multiple of 4 KiB), in either byte order.
fn md_at_the_end(device: &File, size: u64) -> std::io::Result<bool> {
    let old = (size & !0xffff).checked_sub(0x10000);
    let new = size.checked_sub(8192).map(|at| at & !0xfff);
    for at in [old, new].into_iter().flatten() {
        for magic in [[0xfc, 0x4e, 0x2b, 0xa9], [0xa9, 0x2b, 0x4e, 0xfc]] {
            if contains(device, at, &magic)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Any of the 128 uberblocks of one of the four labels, two at each end.
fn zfs(device: &File, size: u64) -> std::io::Result<bool> {
    const LABEL: u64 = 256 << 10;
    if size < 4 * LABEL {
        return Ok(false);
    }
    let end = size / LABEL * LABEL;
    for label in [0, LABEL, end - 2 * LABEL, end - LABEL] {
        let mut array = vec![0; 128 << 10];
        device.read_exact_at(&mut array, label + (128 << 10))?;
        let found = array.chunks(1024).any(|uberblock| {
            matches!(
                uberblock[..8],
                [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0] | [0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c]
            )
        });
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 8 << 20;

    fn device(writes: &[(u64, &[u8])]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        for (at, bytes) in writes {
            file.write_all_at(bytes, *at).unwrap();
        }
        file
    }

    #[test]
    fn an_empty_device_holds_nothing() {
        assert!(find(&device(&[]), SIZE).unwrap().is_empty());
    }

    #[test]
    fn every_signature_is_found_where_it_belongs() {
        for signature in SIGNATURES {
            let at = match signature.from {
                From::Start => signature.offset,
                From::End => SIZE - signature.offset,
            };
            let found = find(&device(&[(at, signature.magic)]), SIZE).unwrap();
            assert!(
                found.contains(&signature.name),
                "{}: {found:?}",
                signature.name
            );
        }
    }

    #[test]
    fn superblocks_at_the_end_are_found() {
        let md = [0xfc, 0x4e, 0x2b, 0xa9];
        for at in [SIZE - 0x10000, SIZE - 8192] {
            assert_eq!(
                find(&device(&[(at, &md)]), SIZE).unwrap(),
                ["md RAID member"]
            );
        }
        let uberblock = 0x00ba_b10c_u64.to_le_bytes();
        for at in [128 << 10, SIZE - (256 << 10) + (131 << 10)] {
            assert_eq!(
                find(&device(&[(at, &uberblock)]), SIZE).unwrap(),
                ["ZFS member"]
            );
        }
    }

    /// A real file system, made by the system's own tool, if it is there.
    #[test]
    fn a_real_file_system_is_recognised() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(SIZE).unwrap();
        let made = std::process::Command::new("mkfs.ext4")
            .arg("-q")
            .arg(file.path())
            .status();
        if made.is_ok_and(|status| status.success()) {
            let device = File::open(file.path()).unwrap();
            assert_eq!(find(&device, SIZE).unwrap(), ["ext2/3/4 file system"]);
        }
    }
}
