/**
 * The tag of an image reference, which determines the default pull policy. Only the part of the reference grammar that this needs: the
 * runtime resolves full names.
 */

const HOST = String.raw`(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`;
const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const REPOSITORY = new RegExp(`^(?:${HOST}/)?${PATH_PART}(?:/${PATH_PART})*$`);
const CONTENT_ID = /^[a-f0-9]{64}$/;

/** "latest" if neither a tag nor a digest is given; undefined if there is a digest only, or if the reference is malformed. */
export function imageTag(image: string): string | undefined {
  const digestAt = image.indexOf("@");
  const tagged = digestAt === -1 ? image : image.slice(0, digestAt);
  // A colon before the last slash precedes a port: registry:5000/image.
  const tagAt = tagged.indexOf(":", tagged.lastIndexOf("/") + 1);
  const repository = tagAt === -1 ? tagged : tagged.slice(0, tagAt);
  if (!REPOSITORY.test(repository) || CONTENT_ID.test(image)) return undefined;
  if (tagAt !== -1) return tagged.slice(tagAt + 1);
  return digestAt === -1 ? "latest" : undefined;
}

/** A moving tag is always pulled, a pinned one once. */
export function defaultPullPolicy(image: string): "Always" | "IfNotPresent" {
  return imageTag(image) === "latest" ? "Always" : "IfNotPresent";
}
