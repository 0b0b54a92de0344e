/**
 * Parses image references, with upstream's error messages. Follows the distribution grammar and Docker's rules for short names: "busybox"
 * is docker.io/library/busybox:latest.
 */
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { RuntimeError } from "../contracts/runtime.ts";

const HOST_PART = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
const HOST = String.raw`(?:${HOST_PART}(?:\.${HOST_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`;
const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const TAG = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}";
const DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";
const REFERENCE = new RegExp(`^(${HOST}/${PATH_PART}(?:/${PATH_PART})*)(?::(${TAG}))?(?:@(${DIGEST}))?$`);
const CONTENT_ID = /^[a-f0-9]{64}$/;

const DEFAULT_HOST = "docker.io";
const DEFAULT_FOLDER = "library";
const NAME_LENGTH_MAX = 255;

/** Adds the default tag if there is neither a tag nor a digest. Throws a RuntimeError "InvalidImage". */
export function withTag(image: string): string {
  const reference = parsed(image);
  if ("problem" in reference) throw invalid(image, reference.problem);
  return reference.hasTagOrDigest ? image : `${image}:latest`;
}

/** The message of the error that `withTag` throws; undefined if the name is valid. */
export function invalidName(image: string): string | undefined {
  const reference = parsed(image);
  return "problem" in reference ? invalid(image, reference.problem).message : undefined;
}

/** Why the reference is invalid, in upstream's words; undefined if it is valid. */
export function nameProblem(image: string): string | undefined {
  const reference = parsed(image);
  return "problem" in reference ? reference.problem : undefined;
}

function parsed(image: string): { readonly hasTagOrDigest: boolean } | { readonly problem: string } {
  if (CONTENT_ID.test(image)) return { problem: `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings` };
  const { host, rest } = splitHost(image);
  const path = rest.split(":", 1)[0] ?? "";
  if (path.toLowerCase() !== path) return { problem: `invalid reference format: repository name (${path}) must be lowercase` };
  const [, name = "", tag, digest] = REFERENCE.exec(`${host}/${rest}`) ?? [];
  if (name === "") return { problem: "invalid reference format" };
  if (name.length > NAME_LENGTH_MAX) return { problem: `repository name must not be more than ${NAME_LENGTH_MAX} characters` };
  return { hasTagOrDigest: tag !== undefined || digest !== undefined };
}

/** The part before the first slash is a host only if it looks like one. */
function splitHost(image: string): { readonly host: string; readonly rest: string } {
  const slashAt = image.indexOf("/");
  const first = image.slice(0, Math.max(0, slashAt));
  const isHost = slashAt > 0 && (/[.:]/.test(first) || first === "localhost" || first.toLowerCase() !== first);
  const host = isHost ? first : DEFAULT_HOST;
  const rest = isHost ? image.slice(slashAt + 1) : image;
  return { host, rest: host === DEFAULT_HOST && !rest.includes("/") ? `${DEFAULT_FOLDER}/${rest}` : rest };
}

function invalid(image: string, why: string): RuntimeError {
  const name = quoteGo(image);
  return new RuntimeError("InvalidImage", `Failed to apply default image tag ${name}: couldn't parse image name ${name}: ${why}`);
}
