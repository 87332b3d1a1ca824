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
