/**
 * What a configMap, secret, downwardAPI or projected volume is to hold now: asks for the objects that it is made of and puts together
 * what they come to. Of a projected volume whose sources fail all failures are told, as upstream. Not here: writing it (machine/volumes).
 */
import type { DownwardAPIVolumeFile, Pod, Volume, VolumeProjection } from "../../../api/generated/core/v1.ts";
import type { ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { encodeUtf8 } from "../../../base/utf8.ts";
import type { References } from "../../references/references.ts";
import { fileAmount, fileField } from "../../container-config/downward.ts";
import type { ServiceAccountTokens } from "../../references/service-account-tokens.ts";
import { soleUserOf } from "./file-rights.ts";
import { configMapFiles, secretFiles } from "./keyed-files.ts";
import { checkedFiles, MissingSourceError, VolumeError, type VolumeFile, type VolumeFiles } from "./volume-file.ts";

/** What the API server fills in. */
const MODE_DEFAULT = 0o644;

/** Of a file that shows who the Pod is and that not everybody in the Pod is to read. */
const PRIVATE_MODE = 0o600;

export interface Collecting {
  readonly pod: Pod;
  readonly references: Pick<References, "configMap" | "secret">;
  readonly tokens: Pick<ServiceAccountTokens, "token">;
  readonly nodeAllocatable: ResourceList;
  readonly signal: AbortSignal;
}

/** Rejects with a VolumeError if what it is made of is not there, and otherwise with whatever the API said. */
export async function collectFiles(volume: Volume, collecting: Collecting): Promise<VolumeFiles> {
  return checkedFiles(await filesOf(volume, collecting));
}

async function filesOf({ configMap, secret, downwardAPI, projected }: Volume, collecting: Collecting): Promise<VolumeFiles> {
  if (configMap !== undefined) return filesOfSource({ configMap }, configMap.defaultMode ?? MODE_DEFAULT, collecting);
  if (secret !== undefined) {
    const { secretName = "", defaultMode = MODE_DEFAULT, ...source } = secret;
    return filesOfSource({ secret: { ...source, name: secretName } }, defaultMode, collecting);
  }
  if (downwardAPI !== undefined) return filesOfSource({ downwardAPI }, downwardAPI.defaultMode ?? MODE_DEFAULT, collecting);
  return projectedFiles(projected?.sources ?? [], projected?.defaultMode ?? MODE_DEFAULT, collecting);
}

/** Of two sources with the same path the later counts. */
async function projectedFiles(sources: readonly VolumeProjection[], mode: number, collecting: Collecting): Promise<VolumeFiles> {
  const results = await Promise.allSettled(sources.map((source) => filesOfSource(source, mode, collecting)));
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  if (errors.length > 0) throw together(errors);
  return new Map(results.flatMap((result) => (result.status === "fulfilled" ? [...result.value] : [])));
}

async function filesOfSource(source: VolumeProjection, defaultMode: number, collecting: Collecting): Promise<VolumeFiles> {
  const { pod, references, tokens, nodeAllocatable, signal } = collecting;
  const { namespace = "" } = pod.metadata;
  if (source.secret !== undefined) {
    const secret = await references.secret(namespace, source.secret.name ?? "", signal);
    return secretFiles(source.secret, secret, defaultMode);
  }
  if (source.configMap !== undefined) {
    const configMap = await references.configMap(namespace, source.configMap.name ?? "", signal);
    return configMapFiles(source.configMap, configMap, defaultMode);
  }
  if (source.downwardAPI !== undefined) return downwardFiles(source.downwardAPI.items ?? [], { pod, nodeAllocatable, defaultMode });
  if (source.serviceAccountToken !== undefined) {
    const { path, ...wish } = source.serviceAccountToken;
    const data = encodeUtf8(await tokens.token(pod, wish, signal));
    return new Map([[path, { data, ...privateRights(pod, defaultMode) }]]);
  }
  const unknown = Object.keys(source)[0];
  throw new VolumeError(
    unknown === undefined ? "a source of a projected volume is empty" : `sources of type ${unknown} are not supported by this version`,
  );
}

/** A token is its owner's alone, if it is known who that is; a group is let in when the volume is given to it. */
function privateRights(pod: Pod, defaultMode: number): Omit<VolumeFile, "data"> {
  const ownerUid = soleUserOf(pod);
  if (ownerUid !== undefined) return { mode: PRIVATE_MODE, ownerUid };
  return { mode: pod.spec?.securityContext?.fsGroup === undefined ? defaultMode : PRIVATE_MODE };
}

export function downwardFiles(
  items: readonly DownwardAPIVolumeFile[],
  { pod, nodeAllocatable, defaultMode }: { readonly pod: Pod; readonly nodeAllocatable: ResourceList; readonly defaultMode: number },
): VolumeFiles {
  const files = new Map<string, VolumeFile>();
  const errors: unknown[] = [];
  for (const { path, mode = defaultMode, fieldRef, resourceFieldRef } of items) {
    try {
      let text = "";
      if (fieldRef !== undefined) text = fileField(fieldRef.fieldPath, pod);
      else if (resourceFieldRef !== undefined) text = fileAmount(resourceFieldRef, pod, nodeAllocatable);
      files.set(path, { data: encodeUtf8(text), mode });
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw together(errors);
  return files;
}

/** Something that the volume is made of does not exist: an object, or the ServiceAccount that a token is for. */
export function isMissingSource(error: unknown): boolean {
  return error instanceof MissingSourceError || isReason(error, "NotFound");
}

/** One is told as it is, several in brackets, each once. */
function together(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  const messages = new Set(errors.map((error) => (error instanceof Error ? error.message : String(error))));
  const [first] = messages;
  const Reason = errors.every(isMissingSource) ? MissingSourceError : VolumeError;
  return new Reason(messages.size === 1 ? (first ?? "") : `[${[...messages].join(", ")}]`, { cause: errors[0] });
}
