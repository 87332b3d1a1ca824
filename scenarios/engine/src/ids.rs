//! What the parts of a system are numbered by: a type for each kind.

use raidlab_kernel::ids;

pub use raidlab_io::{ArrayId, DriveId, ThreadId};

ids! {
    /// A controller.
    ControllerId;
    /// A link between drives, controllers and the host.
    LinkId;
    /// A load of the plan.
    WorkloadId;
    /// A place of a load, which issues one I/O after the other.
    PlaceId;
    /// Who shares an array or is held: a load or, behind these, a tenant of outside threads.
    TenantId;
    /// A file in a journal: a load is one, and behind these each outside thread.
    FileId;
    /// A job on a stripe.
    JobId;
    /// A place in an array, at which one drive stands after the other.
    MemberId;
    /// A drive's worth of spare space that is spread over an array.
    SpareId;
    /// A data column of an array's stripes.
    ColumnId;
    /// A copy of a data unit, by its number among those of the unit.
    CopyId;
    /// A parity of a stripe: the exclusive or, or the second one.
    ParityId;
    /// A stripe of an array: units of all its columns.
    StripeId: u64;
    /// What a lock covers: an array's number and, in the lower 48 bits, that of a group.
    LockKey: u64;
    /// A task in the background of an array, each time that it begins or goes on.
    TaskId;
    /// A unit of a member's, counted along its drive.
    RowId: u64;
}

impl From<WorkloadId> for FileId {
    fn from(load: WorkloadId) -> FileId {
        FileId::new(load.number())
    }
}

impl From<WorkloadId> for TenantId {
    fn from(load: WorkloadId) -> TenantId {
        TenantId::new(load.number())
    }
}
