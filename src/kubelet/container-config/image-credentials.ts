/**
 * Selects the credentials in pull secrets that match an image. A secret names registries by host, optionally with a port, a path prefix,
 * and `*` within parts of the host; the most specific come first and all matches are tried in order, so that old and new credentials can
 * coexist. Malformed secrets are skipped. As upstream's credentialprovider.
 */
import type { Secret } from "../../api/generated/core/v1.ts";
import { decodeBase64 } from "../../api/machinery/codec/base64.ts";
import { isObject } from "../../api/machinery/object.ts";
import type { ImageCredentials } from "../contracts/runtime.ts";

/** Default registry of images, and its name in docker's own files. */
const DEFAULT_DOMAIN = "docker.io";
const DEFAULT_REGISTRY = "index.docker.io";

/** Best match first. `secrets` are the Pod's, in its order. */
export function credentialsFor(image: string, secrets: readonly Secret[]): readonly ImageCredentials[] {
  const byRegistry = new Map<string, ImageCredentials[]>();
  for (const secret of secrets) {
    for (const [location, entry] of entriesOf(secret)) {
      const registry = registryOf(location);
      const credentials = entry === undefined ? undefined : credentialsIn(entry);
      if (registry === undefined || credentials === undefined) continue;
      byRegistry.set(registry, [...(byRegistry.get(registry) ?? []), credentials]);
    }
  }
  const repository = repositoryOf(image);
  // In reverse order a longer path precedes a shorter one.
  const matching = [...byRegistry.keys()]
    .toSorted()
    .toReversed()
    .filter((registry) => matches(registry, repository));
  if (matching.length > 0) return matching.flatMap((registry) => byRegistry.get(registry) ?? []);
  return repository.startsWith(`${DEFAULT_DOMAIN}/`) ? (byRegistry.get(DEFAULT_REGISTRY) ?? []) : [];
}

// ── secrets ─────────────────────────────────────────────────────────────────────────────────────────

type Entry = Readonly<Record<string, unknown>>;

function entriesOf({ type, data = {} }: Secret): readonly (readonly [location: string, entry: Entry | undefined])[] {
  if (type === "kubernetes.io/dockerconfigjson") return membersOf(objectIn(data[".dockerconfigjson"])?.["auths"]);
  if (type === "kubernetes.io/dockercfg") return membersOf(objectIn(data[".dockercfg"]));
  return [];
}

function membersOf(value: unknown): readonly (readonly [string, Entry | undefined])[] {
  const object = asObject(value);
  return object === undefined ? [] : Object.entries(object).map(([name, member]) => [name, asObject(member)]);
}

function objectIn(base64: string | undefined): Entry | undefined {
  if (base64 === undefined || base64 === "") return undefined;
  try {
    return asObject(JSON.parse(textOf(base64)));
  } catch {
    return undefined; // A malformed pull secret does not fail the pull: the image may be public.
  }
}

function asObject(value: unknown): Entry | undefined {
  return isObject(value) ? value : undefined;
}

/** `auth` is base64 of "user:password" and takes precedence over both fields. Undefined: neither is set. */
function credentialsIn(entry: Entry): ImageCredentials | undefined {
  const { username, password, auth } = entry;
  if (typeof auth !== "string" || auth === "") return { username: asText(username), password: asText(password) };
  const text = decoded(auth);
  const at = text?.indexOf(":") ?? -1;
  return text === undefined || at === -1 ? undefined : { username: text.slice(0, at), password: text.slice(at + 1) };
}

/** With or without padding. */
function decoded(base64: string): string | undefined {
  const text = base64.trim();
  try {
    return textOf(text.padEnd(Math.ceil(text.length / 4) * 4, "="));
  } catch {
    return undefined;
  }
}

function textOf(base64: string): string {
  return new TextDecoder().decode(decodeBase64(base64));
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

// ── registries ──────────────────────────────────────────────────────────────────────────────────────

/** "https://index.docker.io/v1/" is "index.docker.io". Undefined if there is no host. */
function registryOf(location: string): string | undefined {
  const [host, path] = split(location.replace(/^https?:\/\//, ""));
  if (host === "") return undefined;
  const effective = /^\/v[12]\//.test(path) ? path.slice("/v1".length) : path;
  return effective === "/" ? host : host + effective;
}

function split(address: string): readonly [host: string, path: string] {
  const [, host = "", path = ""] = /^([^/]*)(\/[^?#]*)?/.exec(address) ?? [];
  return [host, path];
}

function matches(registry: string, image: string): boolean {
  const [pattern, prefix] = split(registry);
  const [host, path] = split(image);
  const [patternName, patternPort] = withPort(pattern);
  const [name, port] = withPort(host);
  if (patternPort !== port || !path.startsWith(prefix)) return false;
  const [patternParts, parts] = [patternName.split("."), name.split(".")];
  return patternParts.length === parts.length && patternParts.every((part, index) => globMatches(part, parts[index] ?? ""));
}

function withPort(host: string): readonly [name: string, port: string] {
  const at = host.lastIndexOf(":");
  return at === -1 || host.endsWith("]") ? [host, ""] : [host.slice(0, at), host.slice(at + 1)];
}

/** `*` matches any characters, `?` one. Linear time: both texts come from clients. */
function globMatches(pattern: string, text: string): boolean {
  let [at, star, mark] = [0, -1, 0];
  let index = 0;
  while (index < text.length) {
    const wanted = pattern.charAt(at);
    if (at < pattern.length && wanted !== "*" && (wanted === "?" || wanted === text.charAt(index))) {
      at++;
      index++;
    } else if (wanted === "*") {
      star = at++;
      mark = index;
    } else if (star === -1) {
      return false;
    } else {
      at = star + 1;
      index = ++mark;
    }
  }
  return /^\**$/.test(pattern.slice(at));
}

/** Full name without tag and digest: "busybox:1.36" is "docker.io/library/busybox". */
function repositoryOf(image: string): string {
  const [name = ""] = image.split("@");
  // A colon before the last slash separates a port: registry:5000/image.
  const tagAt = name.indexOf(":", name.lastIndexOf("/") + 1);
  const repository = tagAt === -1 ? name : name.slice(0, tagAt);
  const [first = "", ...rest] = repository.split("/");
  // A first component without a dot or a port is not a host.
  if (rest.length === 0) return `${DEFAULT_DOMAIN}/library/${first}`;
  if (first !== "localhost" && !/[.:]/.test(first)) return `${DEFAULT_DOMAIN}/${repository}`;
  return first === DEFAULT_REGISTRY ? `${DEFAULT_DOMAIN}/${rest.join("/")}` : repository;
}
