"""Bounds of a plan's numbers: made from the types of the engine by `make schema`."""

from __future__ import annotations

from typing import Final

from raidlab.devices.bounds import Bounds, LowerBound


class AfterParams:
    """Numbers of `AfterParams`."""

    after_read_ns: Final = Bounds(0, 1_000_000_000)
    after_write_ns: Final = Bounds(0, 1_000_000_000)


class BlockLayerParams:
    """Numbers of `BlockLayerParams`."""

    requests: Final = Bounds(0, 1_048_576)


class BufferParams:
    """Numbers of `BufferParams`."""

    segment_sectors: Final = Bounds(1, 16_777_216)
    segments: Final = Bounds(1, 4_096)


class CStateParams:
    """Numbers of `CStateParams`."""

    exit_ns: Final = Bounds(0, 68_719_476_736)


class CoalescingParams:
    """Numbers of `CoalescingParams`."""

    above: Final = Bounds(1, 1_048_576)
    delay_ns: Final = Bounds(1, 1_000_000_000)


class CollectionParams:
    """Numbers of `CollectionParams`."""

    start_free_blocks: Final = Bounds(2, 1_024)


class CompressionParams:
    """Numbers of `CompressionParams`."""

    least_share: Final = Bounds(0.01, 1)


class ControllerPlan:
    """Numbers of `ControllerPlan`."""

    cores: Final = Bounds(1, 1_024)


class ExtraDisconnectParams:
    """Numbers of `ExtraDisconnectParams`."""

    between_ns: Final = Bounds(0, 1_000_000_000)
    command_ns: Final = Bounds(0, 1_000_000_000)
    disconnect_ns: Final = Bounds(0, 1_000_000_000)
    second_disconnect_ns: Final = Bounds(0, 1_000_000_000)
    seek_delta_ns: Final = Bounds(0, 1_000_000_000)


class FirmwareParams:
    """Numbers of `FirmwareParams`."""

    cores: Final = Bounds(1, 1_024)
    spread: Final = Bounds(0, 1)


class FlashPowerParams:
    """Numbers of `FlashPowerParams`."""

    byte_nj: Final = Bounds(0, 1_000_000)
    erase_nj: Final = Bounds(0, 1_000_000_000)
    program_nj: Final = Bounds(0, 1_000_000_000)
    program_slc_nj: Final = Bounds(0, 1_000_000_000)
    read_nj: Final = Bounds(0, 1_000_000_000)


class GeometryParams:
    """Numbers of `GeometryParams`."""

    heads: Final = Bounds(1, 255)


class HddDeviceParams:
    """Numbers of `HddDeviceParams`."""

    rpm: Final = Bounds(300, 100_000)
    speed_tolerance: Final = Bounds(0, 0.05)


class HostParams:
    """Numbers of `HostParams`."""

    complete_ns: Final = Bounds(0, 68_719_476_736)
    fill_ns: Final = Bounds(0, 68_719_476_736)
    interrupt_ns: Final = Bounds(0, 68_719_476_736)
    page_ns: Final = Bounds(0, 68_719_476_736)
    raid_command_ns: Final = Bounds(0, 68_719_476_736)
    scheduler_latency_ns: Final = Bounds(0, 68_719_476_736)
    spread: Final = Bounds(0, 1)
    stripe_page_ns: Final = Bounds(0, 68_719_476_736)
    stripe_reread_ns: Final = Bounds(0, 68_719_476_736)
    submit_ns: Final = Bounds(0, 68_719_476_736)
    wake_ns: Final = Bounds(0, 68_719_476_736)
    write_page_ns: Final = Bounds(0, 68_719_476_736)


class LinkInterfaceParams:
    """Numbers of `LinkInterfaceParams`."""

    queue_depth: Final = Bounds(1, 4_096)
    read_overhead_ns: Final = Bounds(0, 1_000_000_000)
    write_overhead_ns: Final = Bounds(0, 1_000_000_000)


class NandParams:
    """Numbers of `NandParams`."""

    blocks_per_plane: Final = Bounds(1, 1_048_576)
    channel_bytes_per_s: Final = LowerBound(1_000_000)
    channel_write_bytes_per_s: Final = LowerBound(1_000_000)
    channels: Final = Bounds(1, 256)
    correction_bytes_per_s: Final = LowerBound(1_000_000)
    dies_per_channel: Final = Bounds(1, 256)
    page_bytes: Final = Bounds(1, 1_048_576)
    pages_per_block: Final = Bounds(1, 16_384)
    planes: Final = Bounds(1, 16)
    program_bytes_per_s: Final = LowerBound(1_000_000)


class PageCacheParams:
    """Numbers of `PageCacheParams`."""

    expire_ns: Final = LowerBound(1)
    memory_bytes: Final = Bounds(1_048_576, 1_125_899_906_842_624)
    request_bytes: Final = LowerBound(4_096)
    requests: Final = Bounds(1, 65_536)


class PauseParams:
    """Numbers of `PauseParams`."""

    every_ns: Final = LowerBound(1_000)
    length_ns: Final = LowerBound(1)


class ScsiBusInterfaceParams:
    """Numbers of `ScsiBusInterfaceParams`."""

    data_preparation_ns: Final = Bounds(0, 1_000_000_000)
    first_reselect_ns: Final = Bounds(0, 1_000_000_000)
    minimum_seek_ns: Final = Bounds(0, 1_000_000_000)
    other_reselect_ns: Final = Bounds(0, 1_000_000_000)
    queue_depth: Final = Bounds(1, 4_096)
    read_completion_ns: Final = Bounds(0, 1_000_000_000)
    read_sector_ns: Final = Bounds(0, 1_000_000_000)
    write_completion_ns: Final = Bounds(0, 1_000_000_000)
    write_disconnect_ns: Final = Bounds(0, 1_000_000_000)
    write_sector_ns: Final = Bounds(0, 1_000_000_000)


class SeekParams:
    """Numbers of `SeekParams`."""

    head_switch_ns: Final = Bounds(0, 1_000_000_000)
    spread_ns: Final = Bounds(0, 1_000_000_000)


class ShingledParams:
    """Numbers of `ShingledParams`."""

    band_bytes: Final = Bounds(1_048_576, 1_073_741_824)
    records: Final = Bounds(1, 16_777_216)


class WriteCacheParams:
    """Numbers of `WriteCacheParams`."""

    extent_sectors: Final = Bounds(1, 1_048_576)
    extents: Final = Bounds(1, 32_768)
    flush_above: Final = Bounds(0, 1)
    flush_after_idle_ns: Final = Bounds(0, 60_000_000_000)
    sectors: Final = Bounds(1, 4_294_967_296)


class ZoneParams:
    """Numbers of `ZoneParams`."""

    last_cylinder: Final = Bounds(0, 16_777_215)
    sectors_per_track: Final = Bounds(1, 65_535)
