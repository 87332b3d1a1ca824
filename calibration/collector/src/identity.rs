//! What is recorded of the machine and of the target. Serial numbers are stored as hashes.

use crate::digest::sha256;
use crate::fio::on_path;
use crate::sysfs::{BlockDevice, Roots, entries, line};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A device's identity: it must be the same when a bundle is resumed.
pub fn identity(roots: &Roots, device: &BlockDevice) -> Value {
    let disk = device.disk_folder();
    json!({
        "device": device.name,
        "model": model(&disk),
        "serial_sha256": device.serial(roots).map(|serial| sha256(serial.as_bytes())),
        "firmware": line(&disk.join("device/firmware_rev")).or_else(|| line(&disk.join("device/rev"))),
        "size_bytes": device.size(),
    })
}

fn model(disk: &Path) -> Option<String> {
    let model = line(&disk.join("device/model"))?;
    Some(match line(&disk.join("device/vendor")) {
        // libata gives every SATA drive the vendor "ATA".
        Some(vendor) if vendor != "ATA" && !vendor.starts_with("0x") => format!("{vendor} {model}"),
        _ => model,
    })
}

/// What is good to know of a device: queue, link, cache, members.
pub fn details(roots: &Roots, device: &BlockDevice) -> Value {
    let disk = device.disk_folder();
    let queue = |name: &str| line(&disk.join("queue").join(name));
    let number = |name: &str| queue(name).and_then(|text| text.parse::<u64>().ok());
    let mut found = json!({
        "logical_sector_bytes": number("logical_block_size"),
        "physical_sector_bytes": number("physical_block_size"),
        "rotational": queue("rotational").map(|text| text == "1"),
        "scheduler": queue("scheduler").map(|text| chosen(&text)),
        "write_cache": queue("write_cache"),
        "nr_requests": number("nr_requests"),
        "read_ahead_kib": number("read_ahead_kb"),
        "max_transfer_kib": number("max_sectors_kb"),
        "nomerges": number("nomerges"),
        "io_poll": number("io_poll"),
        "discard_max_bytes": number("discard_max_bytes"),
        "device_queue_depth": line(&disk.join("device/queue_depth")).and_then(|t| t.parse::<u64>().ok()),
        "link": link(&disk),
        "temperature_c": temperature_c(device),
        "health": health(device),
    });
    let object = found.as_object_mut().expect("an object");
    if disk.join("md").exists() {
        object.insert("md".to_owned(), md(&disk));
    }
    if disk.join("dm").exists() {
        object.insert(
            "device_mapper".to_owned(),
            json!(line(&disk.join("dm/name"))),
        );
    }
    let members: Vec<Value> = roots
        .slaves(device)
        .iter()
        .map(|member| json!({"identity": identity(roots, member), "details": details(roots, member)}))
        .collect();
    if !members.is_empty() {
        object.insert("members".to_owned(), Value::Array(members));
    }
    object.retain(|_, value| !value.is_null());
    found
}

/// The chosen word of `mq-deadline [none]`.
fn chosen(text: &str) -> String {
    let inner = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(text, |(word, _)| word).to_owned()
}

fn md(disk: &Path) -> Value {
    let file = |name: &str| line(&disk.join("md").join(name));
    json!({
        "level": file("level"),
        "raid_disks": file("raid_disks"),
        "chunk_bytes": file("chunk_size"),
        "state": file("array_state"),
        "degraded": file("degraded"),
        "sync_action": file("sync_action"),
    })
}

/// Speed and width of the link: PCIe of the nearest device above, SATA or SAS of the port.
fn link(disk: &Path) -> Value {
    let mut found = Map::new();
    let real = fs::canonicalize(disk.join("device")).unwrap_or_default();
    for folder in real.ancestors() {
        if let (Some(speed), Some(width)) = (
            line(&folder.join("current_link_speed")),
            line(&folder.join("current_link_width")),
        ) {
            found.insert("pcie_speed".to_owned(), json!(speed));
            found.insert("pcie_width".to_owned(), json!(width));
            break;
        }
        for name in entries(folder) {
            let spot = match name.as_str() {
                name if name.starts_with("link") => format!("{name}/ata_link/{name}/sata_spd"),
                name if name.starts_with("phy-") => {
                    format!("{name}/sas_phy/{name}/negotiated_linkrate")
                }
                _ => continue,
            };
            if let Some(speed) = line(&folder.join(spot)) {
                found.entry("port_speed").or_insert(json!(speed));
            }
        }
    }
    if found.is_empty() {
        Value::Null
    } else {
        Value::Object(found)
    }
}

fn sensor(disk: &Path) -> Option<PathBuf> {
    ["device", "device/hwmon", "device/device/hwmon"]
        .iter()
        .map(|place| disk.join(place))
        .flat_map(|folder| {
            entries(&folder)
                .into_iter()
                .filter(|name| name.starts_with("hwmon"))
                .map(move |name| folder.join(name).join("temp1_input"))
        })
        .find(|path| path.exists())
}

/// The device's temperature in degrees Celsius, from the kernel's own sensor for it.
pub fn temperature_c(device: &BlockDevice) -> Option<f64> {
    let text = line(&sensor(&device.disk_folder())?)?;
    Some(text.parse::<f64>().ok()? / 1000.0)
}

/// SMART and NVMe health by `smartctl`, where it is installed and allowed; without serials.
fn health(device: &BlockDevice) -> Value {
    const KEPT: [&str; 8] = [
        "smart_status",
        "temperature",
        "power_on_time",
        "nvme_smart_health_information_log",
        "ata_smart_attributes",
        "scsi_error_counter_log",
        "rotation_rate",
        "interface_speed",
    ];
    let node = Path::new("/dev").join(&device.name);
    let Some(program) = on_path("smartctl").filter(|_| node.exists()) else {
        return Value::Null;
    };
    let output = Command::new(program)
        .args(["--json", "--all"])
        .arg(node)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let document = output
        .ok()
        .and_then(|output| serde_json::from_slice::<Value>(&output.stdout).ok());
    let Some(Value::Object(mut document)) = document else {
        return Value::Null;
    };
    document.retain(|key, _| KEPT.contains(&key.as_str()));
    if document.is_empty() {
        Value::Null
    } else {
        Value::Object(document)
    }
}

/// The machine: CPU, governor, memory, kernel's command line aside.
pub fn host(roots: &Roots) -> Value {
    let cpuinfo = fs::read_to_string(roots.proc.join("cpuinfo")).unwrap_or_default();
    let field = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    let cpu = roots.sys.join("devices/system/cpu/cpu0/cpufreq");
    let memory = fs::read_to_string(roots.proc.join("meminfo")).unwrap_or_default();
    let memory_kib = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    json!({
        "cpu": field("model name"),
        "cpus": cpuinfo.lines().filter(|line| line.starts_with("processor")).count(),
        "governor": line(&cpu.join("scaling_governor")),
        "cpu_max_khz": line(&cpu.join("cpuinfo_max_freq")).and_then(|text| text.parse::<u64>().ok()),
        "memory_bytes": memory_kib.map(|kib| kib * 1024),
        "architecture": std::env::consts::ARCH,
    })
}

/// The kernel's release.
pub fn kernel(roots: &Roots) -> String {
    line(&roots.proc.join("sys/kernel/osrelease")).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_brackets_is_the_chosen_one() {
        assert_eq!(chosen("mq-deadline kyber [none]"), "none");
        assert_eq!(chosen("none"), "none");
    }
}
