/** Why a volume cannot be mounted or refreshed, and how several reasons become one. */
import { isReason } from "../../../api/machinery/status-error.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";
import type { ImageProblem } from "../../contracts/pod-machine.ts";

/** The message continues `MountVolume.SetUp failed for volume "v" : `, which names the volume. */
export class VolumeError extends Error {
  override readonly name: string = "VolumeError";
}

/** A ConfigMap or Secret of the volume does not exist. */
export class MissingSourceError extends VolumeError {
  override readonly name = "MissingSourceError";
}

/** A driver answered that it did nothing and has nothing in progress: there is nothing to undo. */
export class FinalVolumeError extends VolumeError {
  override readonly name = "FinalVolumeError";
}

/** A driver answered that it can never do this with these arguments: repeating it is useless. */
export class InfeasibleVolumeError extends VolumeError {
  override readonly name = "InfeasibleVolumeError";
}

/** What all Pods share of the volume cannot be mounted. The message is that of the cause. */
export class StagingError extends VolumeError {
  override readonly name = "StagingError";

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** A controller has not attached the volume to this node yet: not a failure, the caller waits and resolves again. */
export class NotAttachedError extends VolumeError {
  override readonly name = "NotAttachedError";
  /** The driver whose limit of volumes the node has reached, if that is the reason. */
  readonly limitOf: string | undefined;

  constructor(message: string, { limitOf }: { readonly limitOf?: string } = {}) {
    super(message);
    this.limitOf = limitOf;
  }
}

/** The image of a volume is not available. */
export class VolumeImageError extends VolumeError {
  override readonly name = "VolumeImageError";
  readonly reference: string;
  readonly reason: ImageProblem["reason"];

  constructor(reference: string, { reason, message }: ImageProblem, options?: ErrorOptions) {
    super(message, options);
    this.reference = reference;
    this.reason = reason;
  }
}

/** True if an object that the volume depends on does not exist: a source, or the ServiceAccount of a token. */
export function isMissingSource(error: unknown): boolean {
  return error instanceof MissingSourceError || isReason(error, "NotFound");
}

/** Returns a single error unchanged; several become one with the distinct messages in brackets, as upstream aggregates them. */
export function combineErrors(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  const messages = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  const Reason = errors.every(isMissingSource) ? MissingSourceError : VolumeError;
  return new Reason(joinedErrors(messages), { cause: errors[0] });
}
