/** Messages of volumes that cannot be mounted, as upstream words them in the Event FailedMount. */
import type { Volume } from "../../../api/generated/core/v1.ts";
import { ImageVolumesError, MountError, PodRejectedError, type ImageProblem } from "../../contracts/pod-machine.ts";
import { ClaimError, isClaimed, NodeAffinityError } from "../../volumes/framework/claimed-volume.ts";
import { NotAttachedError, StagingError, VolumeImageError } from "../../volumes/framework/volume-error.ts";

export function failedSetUp(name: string, error: unknown): MountError {
  const step = stepOf(error);
  const why = error instanceof Error ? error.message : String(error);
  return new MountError(`MountVolume.${step} failed for volume "${name}" : ${why}`, { cause: error });
}

function stepOf(error: unknown): string {
  if (error instanceof NodeAffinityError) return "NodeAffinity check";
  return error instanceof StagingError ? "MountDevice" : "SetUp";
}

/** The driver whose limit of volumes kept one from being attached; undefined if that is not the reason. */
export function reachedLimit(errors: readonly unknown[]): string | undefined {
  return errors
    .map((error) => (error instanceof Error ? error.cause : undefined))
    .filter((cause) => cause instanceof NotAttachedError)
    .find(({ limitOf }) => limitOf !== undefined)?.limitOf;
}

/** Upstream's reason and message of a Pod whose volumes exceed the limit of its node. */
export function limitError(errors: readonly unknown[], unmounted: readonly Volume[]): PodRejectedError {
  const names = unmounted.map(({ name }) => name).toSorted();
  const lists = `unmounted volumes=[${names.join(" ")}], unattached volumes=[${names.join(" ")}], failed to process volumes=[]`;
  const message = `Node has reached its volume attachment limit, rejecting pod. ${lists}: context deadline exceeded`;
  return new PodRejectedError("VolumeAttachmentLimitExceeded", message, { cause: errors[0] });
}

/**
 * As upstream, volumes whose claims cannot be used are reported together; of other errors the first one is. Images come last: upstream pulls
 * them after it has mounted the other volumes.
 */
export function mountError(errors: readonly unknown[], unmounted: readonly Volume[]): unknown {
  const problems = new Map(errors.flatMap(imageProblemOf));
  const others = errors.filter((error) => imageProblemOf(error).length === 0);
  if (others.length === 0) return new ImageVolumesError(problems);
  const ofClaims = others.filter((error) => error instanceof ClaimError);
  const [first] = others;
  if (ofClaims.length === 0) return first;
  const names = unmounted.map(({ name }) => name).toSorted();
  const unprocessed = unmounted.filter(isClaimed);
  const lists = `unmounted volumes=[${names.join(" ")}], unattached volumes=[], failed to process volumes=[${unprocessed.map(({ name }) => name).join(" ")}]`;
  return new MountError(`Unable to attach or mount volumes: ${lists}: ${ofClaims.map(({ message }) => message).join("; ")}`, {
    cause: first,
  });
}

function imageProblemOf(error: unknown): readonly (readonly [string, ImageProblem])[] {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof VolumeImageError)) return [];
  return [[cause.reference, { reason: cause.reason, message: cause.message }]];
}
