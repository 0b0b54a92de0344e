/** Images without content: names, digest and size are derived from the reference, so every node reports the same. */
import { imageTag } from "../../../api/core/v1/pod/image-tag.ts";
import type { Image } from "../../contracts/runtime.ts";
import { hashOf } from "./identity.ts";

const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const DIGEST = /^[a-z0-9]+:[0-9a-f]{32,}$/;

const MEBIBYTE = 2 ** 20;
/** Sizes are spread over the usual range, so that the scheduler's image locality has an effect. */
const SIZE_MIN_BYTES = 2 * MEBIBYTE;
const SIZE_MAX_BYTES = 512 * MEBIBYTE;

/** Undefined if the reference is invalid. "nginx" and "nginx:latest" are the same image. */
export function imageOf(reference: string): Image | undefined {
  const digestAt = reference.indexOf("@");
  const tagged = digestAt === -1 ? reference : reference.slice(0, digestAt);
  const tag = imageTag(tagged);
  if (tag === undefined || !TAG.test(tag)) return undefined;
  const repository = tagged.endsWith(`:${tag}`) ? tagged.slice(0, -tag.length - 1) : tagged;
  const hash = hashOf(`${repository}:${tag}`);
  const digest = digestAt === -1 ? `sha256:${hash}` : reference.slice(digestAt + 1);
  if (!DIGEST.test(digest)) return undefined;
  const id = `${repository}@${digest}`;
  // The first digits of a hash of the reference itself, since two tags may share a digest.
  const sizeBytes = SIZE_MIN_BYTES + (Number.parseInt(hashOf(digest).slice(0, 8), 16) % (SIZE_MAX_BYTES - SIZE_MIN_BYTES));
  return { id, names: digestAt === -1 ? [id, `${repository}:${tag}`] : [id], sizeBytes };
}
