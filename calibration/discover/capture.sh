#!/bin/sh
# Captures what a machine's storage consists of, for `raidlab discover --from FOLDER`.
# Usage: sh capture.sh FOLDER. It only reads; what it may not read without root is left out.
set -u
folder=${1:?usage: sh capture.sh FOLDER}
mkdir -p "$folder" || exit 2
PATH=$PATH:/sbin:/usr/sbin:/opt/MegaRAID/storcli:/opt/MegaRAID/storcli2:/opt/MegaRAID/perccli
PATH=$PATH:/opt/MegaRAID/perccli2:/opt/MegaRAID/MegaCli:/usr/Arcconf:/opt/3ware/CLI
LC_ALL=C
export PATH LC_ALL

# keep NAME COMMAND...: what a command prints becomes a file, if it prints anything.
keep() {
    name=$1
    shift
    command -v "$1" > /dev/null 2>&1 || return 0
    if command -v timeout > /dev/null 2>&1; then
        timeout 60 "$@" > "$folder/$name" 2> /dev/null < /dev/null
    else
        "$@" > "$folder/$name" 2> /dev/null < /dev/null
    fi
    [ -s "$folder/$name" ] || rm -f "$folder/$name"
}

keep hostname uname -n
keep uname.txt uname -a
keep lscpu.txt lscpu
for file in cpuinfo meminfo mdstat diskstats; do
    keep "$file.txt" cat "/proc/$file"
done
keep lsblk.json lsblk -J -b -O
keep lspci.txt lspci -vv
keep lvs.json lvs -a -o +segtype,stripes,stripe_size,cache_mode,chunk_size,devices \
    --units b --nosuffix --reportformat json
keep multipath.txt multipath -ll
keep dmidecode.txt dmidecode -t 1 -t 4 -t 17

# values FOLDER FILE...: path and value of each file that can be read.
values() {
    below=$1
    shift
    for file in "$@"; do
        [ -f "$below/$file" ] && [ -r "$below/$file" ] || continue
        read -r value 2> /dev/null < "$below/$file" && printf '%s:%s\n' "$below/$file" "$value"
    done
}
{
    for block in /sys/block/*; do
        case ${block##*/} in
            loop* | ram* | zram* | sr* | fd*) continue ;;
        esac
        values "$block" size device/model device/vendor device/queue_depth device/serial \
            removable queue/rotational queue/zoned queue/scheduler queue/nr_requests \
            queue/write_cache \
            queue/max_sectors_kb queue/logical_block_size queue/physical_block_size \
            md/level md/raid_disks md/chunk_size md/layout md/degraded md/sync_action \
            md/metadata_version md/consistency_policy md/bitmap/location md/bitmap/chunksize
        for slot in "$block"/md/dev-*; do
            values "$slot" slot
        done
    done
    for nvme in /sys/class/nvme/nvme*; do
        values "$nvme" model serial address numa_node device/current_link_speed \
            device/current_link_width device/max_link_speed device/max_link_width
    done
    for link in /sys/class/ata_link/link*; do
        values "$link" sata_spd
    done
} > "$folder/sysfs.txt" 2> /dev/null
[ -s "$folder/sysfs.txt" ] || rm -f "$folder/sysfs.txt"

keep nvme-list.json nvme list -o json
for path in /dev/nvme[0-9] /dev/nvme[0-9][0-9]; do
    [ -e "$path" ] || continue
    keep "nvme-id-ctrl-${path##*/}.json" nvme id-ctrl -o json "$path"
    keep "nvme-smart-log-${path##*/}.json" nvme smart-log -o json "$path"
done
for path in /dev/sd[a-z] /dev/sd[a-z][a-z] /dev/nvme[0-9] /dev/nvme[0-9][0-9]; do
    [ -e "$path" ] && keep "smartctl-${path##*/}.json" smartctl --json -x "$path"
done
for path in /dev/md[0-9]* /dev/md/*; do
    [ -b "$path" ] && keep "mdadm-${path##*/}.txt" mdadm --detail "$path"
done
for tool in storcli64 storcli perccli64 perccli storcli2 perccli2; do
    keep "$tool-controllers.json" "$tool" /call show all J
    keep "$tool-volumes.json" "$tool" /call/vall show all J
    keep "$tool-drives.json" "$tool" /call/eall/sall show all J
done
for tool in MegaCli64 megacli; do
    keep "$tool-adapters.txt" "$tool" -AdpAllInfo -aALL -NoLog
    keep "$tool-volumes.txt" "$tool" -LDPDInfo -aALL -NoLog
    keep "$tool-battery.txt" "$tool" -AdpBbuCmd -aALL -NoLog
done
for tool in ssacli hpssacli hpacucli; do
    keep "$tool.txt" "$tool" ctrl all show config detail
done
for number in 1 2 3 4; do
    keep "arcconf-getconfig-$number.txt" arcconf getconfig "$number"
done
for number in 0 1 2 3; do
    keep "sas3ircu-$number.txt" sas3ircu "$number" display
    keep "sas2ircu-$number.txt" sas2ircu "$number" display
    keep "tw_cli-c$number.txt" tw_cli "/c$number" show all
done
for what in sys disk rsf vsf; do
    keep "cli64-$what.txt" cli64 "$what" info
done
echo "captured in $folder"
