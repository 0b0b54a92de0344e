/** Messages of volumes that cannot be mounted, as upstream words them in the Event FailedMount. */
import type { Volume } from "../../../api/generated/core/v1.ts";
import { MountError } from "../../contracts/pod-machine.ts";
import { ClaimError, isClaimed, NodeAffinityError } from "../../volumes/framework/claimed-volume.ts";
import { StagingError } from "../../volumes/framework/volume-error.ts";

export function failedSetUp(name: string, error: unknown): MountError {
  const step = stepOf(error);
  const why = error instanceof Error ? error.message : String(error);
  return new MountError(`MountVolume.${step} failed for volume "${name}" : ${why}`, { cause: error });
}

function stepOf(error: unknown): string {
  if (error instanceof NodeAffinityError) return "NodeAffinity check";
  return error instanceof StagingError ? "MountDevice" : "SetUp";
}

/** As upstream, volumes whose claims cannot be used are reported together; of other errors the first one is. */
export function mountError(errors: readonly unknown[], unmounted: readonly Volume[]): unknown {
  const ofClaims = errors.filter((error) => error instanceof ClaimError);
  const [first] = errors;
  if (ofClaims.length === 0) return first;
  const names = unmounted.map(({ name }) => name).toSorted();
  const unprocessed = unmounted.filter(isClaimed);
  const lists = `unmounted volumes=[${names.join(" ")}], unattached volumes=[], failed to process volumes=[${unprocessed.map(({ name }) => name).join(" ")}]`;
  return new MountError(`Unable to attach or mount volumes: ${lists}: ${ofClaims.map(({ message }) => message).join("; ")}`, {
    cause: first,
  });
}
