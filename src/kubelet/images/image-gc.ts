/**
 * Garbage collection of images: which unused images are removed when their file system is fuller than a limit, or when they were not used
 * for a maximum age. Pure, with upstream's rules and messages: least recently used first, none that a container uses, that is pinned, or
 * that was found only recently. Not here: when it runs (image-collector.ts).
 */
import type { Image } from "../contracts/runtime.ts";

export interface ImageGcPolicy {
  /** Percentages of the image file system. A high one of 100 disables the collection by usage. */
  readonly highPercent: number;
  readonly lowPercent: number;
  /** Images that were found more recently are kept. */
  readonly minAgeMs: number;
  /** Images that were unused for longer are removed. 0: no image is. */
  readonly maxAgeMs: number;
}

const MINUTE_MS = 60_000;

/** Upstream's defaults. */
export const IMAGE_GC_DEFAULT: ImageGcPolicy = { highPercent: 85, lowPercent: 80, minAgeMs: 2 * MINUTE_MS, maxAgeMs: 0 };

/** As kind configures its nodes: images that were loaded by hand cannot be pulled again. */
export const IMAGE_GC_DISABLED: ImageGcPolicy = { ...IMAGE_GC_DEFAULT, highPercent: 100 };

export interface ImageRecord {
  readonly firstSeenMs: number;
  readonly lastUsedMs: number;
}

/** By image id. */
export type ImageRecords = ReadonlyMap<string, ImageRecord>;

export interface ImageView {
  readonly images: readonly Image[];
  /** Ids and names of images that containers use. */
  readonly used: ReadonlySet<string>;
  readonly nowMs: number;
}

/** Images that are new count as found now, those in use as used now; those that are gone are forgotten. */
export function seenImages(before: ImageRecords, { images, used, nowMs }: ImageView): ImageRecords {
  return new Map(
    images.map((image) => {
      const { firstSeenMs = nowMs, lastUsedMs = 0 } = before.get(image.id) ?? {};
      return [image.id, { firstSeenMs, lastUsedMs: isUsed(image, used) ? nowMs : lastUsedMs }];
    }),
  );
}

function isUsed({ id, names }: Image, used: ReadonlySet<string>): boolean {
  return used.has(id) || names.some((name) => used.has(name));
}

/** Unused images, the least recently used first. */
export function removableImages(records: ImageRecords, { images, used }: ImageView): readonly Image[] {
  const recordOf = ({ id }: Image): ImageRecord => records.get(id) ?? { firstSeenMs: 0, lastUsedMs: 0 };
  return images
    .filter((image) => image.isPinned !== true && !isUsed(image, used))
    .toSorted((a, b) => recordOf(a).lastUsedMs - recordOf(b).lastUsedMs || recordOf(a).firstSeenMs - recordOf(b).firstSeenMs);
}

export function isTooYoung({ id }: Image, records: ImageRecords, { minAgeMs }: ImageGcPolicy, nowMs: number): boolean {
  return nowMs - (records.get(id)?.firstSeenMs ?? nowMs) < minAgeMs;
}

/** Unused for longer than the maximum age. Not before the kubelet has observed that long. */
export function isTooOld(
  { id }: Image,
  records: ImageRecords,
  policy: ImageGcPolicy,
  times: { readonly nowMs: number; readonly startedMs: number },
): boolean {
  const { maxAgeMs } = policy;
  if (maxAgeMs === 0 || times.nowMs - times.startedMs <= maxAgeMs) return false;
  return times.nowMs - Math.max(times.startedMs, records.get(id)?.lastUsedMs ?? 0) > maxAgeMs;
}

export interface DiskFill {
  readonly capacityBytes: number;
  readonly availableBytes: number;
}

export function usagePercent({ capacityBytes, availableBytes }: DiskFill): number {
  return 100 - Math.trunc((Math.min(availableBytes, capacityBytes) * 100) / capacityBytes);
}

/** 0: nothing has to be removed. */
export function bytesToFree(disk: DiskFill, { highPercent, lowPercent }: ImageGcPolicy): number {
  if (highPercent >= 100 || usagePercent(disk) < highPercent) return 0;
  return Math.max(0, Math.floor((disk.capacityBytes * (100 - lowPercent)) / 100) - disk.availableBytes);
}

/** Message of the Event FreeDiskSpaceFailed. */
export function notFreedMessage(disk: DiskFill, freedBytes: number): string {
  return (
    `Insufficient free disk space on the node's image filesystem (${usagePercent(disk)}% of ${sizeText(disk.capacityBytes)} used). ` +
    `Failed to free sufficient space by deleting unused images (freed ${freedBytes} bytes). ` +
    "Investigate disk usage, as it could be used by active images, logs, volumes, or other data."
  );
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** "232.9 GiB" */
function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const index = Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** index).toFixed(1)} ${UNITS[index] ?? ""}`;
}
