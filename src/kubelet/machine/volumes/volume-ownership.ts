/**
 * Observes how the files of a volume are given to a Pod's `fsGroup`: its duration is measured, and if a volume that outlives the Pod has so
 * many files that it takes long, Events of the Pod say so, in upstream's words.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { NOT_NEEDED } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import type { RecordedEvent } from "../../../client/events/event-recorder.ts";
import type { GroupChange, PodVolume, VolumeNode } from "../../volumes/framework/volume-plugin.ts";
import { fullName, type TimedOperation } from "./volume-metrics.ts";

/** Upstream's. */
const FIRST_REPORT_MS = 30_000;
const NEXT_REPORT_MS = 60_000;

const ADVICE =
  "consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods";

export interface VolumeOwnershipOptions {
  readonly timed: TimedOperation;
  readonly clock: Clock;
  /** Absent: nothing is reported. */
  record?(about: Pod, event: RecordedEvent): void;
}

export function volumeOwnership(options: VolumeOwnershipOptions): VolumeNode["ownership"] {
  return {
    changing: (volume, change) =>
      options.timed("volume_apply_access_control", fullName({ directory: pluginDirectory(volume) }, volume), () =>
        reported(volume, change, options),
      ),
  };
}

async function reported(volume: PodVolume, change: GroupChange, options: VolumeOwnershipOptions): Promise<void> {
  const done = new AbortController();
  const reports = change.isPersistent ? report(volume, change, options, done.signal) : undefined;
  try {
    await change.run();
  } finally {
    done.abort(NOT_NEEDED);
    await reports?.catch(() => undefined); // Its sleep was aborted.
  }
}

async function report(
  { pod, podUid, path }: PodVolume,
  { processed }: GroupChange,
  { clock, record }: VolumeOwnershipOptions,
  signal: AbortSignal,
): Promise<void> {
  const start = `Setting volume ownership for ${path.slice(path.indexOf(podUid))}`;
  const warn = (message: string): void => record?.(pod, { type: "Warning", reason: "VolumePermissionChangeInProgress", message });
  await clock.sleep(FIRST_REPORT_MS, signal);
  warn(`${start} is taking longer than expected, ${ADVICE}`);
  for (;;) {
    await clock.sleep(NEXT_REPORT_MS, signal);
    warn(`${start}, processed ${processed()} files.`);
  }
}

/** `pods/<uid>/volumes/<directory>/<name>`. */
function pluginDirectory({ path }: PodVolume): string {
  return path.split("/").at(-2) ?? "";
}
