/** Validation of volumes whose files come from several sources: Secrets, ConfigMaps, the downward API, tokens of the service account. */
import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from "../../../../generated/core/v1.ts";
import { forbidden, invalid, required, type FieldError } from "../../../../machinery/field-error.ts";
import { FILE_FIELDS, validateFieldRef, validateResourceFieldRef } from "./env.ts";
import { validateFileMode, validateKeyToPath, validateWrittenPath } from "./paths.ts";

/** Minimum lifetime of a token: a shorter one cannot be renewed in time. */
const TOKEN_EXPIRATION_MIN_SECONDS = 600;
const TOKEN_EXPIRATION_MAX_SECONDS = 2 ** 32;

/** Upstream reports the files of the downward API with the volume and not with their index in the list. */
export function* validateDownwardFiles(files: readonly DownwardAPIVolumeFile[], at: string): Iterable<FieldError> {
  for (const { path, fieldRef, resourceFieldRef, mode } of files) {
    if (!path) yield required(`${at}.path`);
    yield* validateWrittenPath(path ?? "", `${at}.path`);
    if (fieldRef !== undefined) {
      yield* validateFieldRef(fieldRef, FILE_FIELDS, `${at}.fieldRef`);
      if (resourceFieldRef !== undefined) {
        yield invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
      }
    } else if (resourceFieldRef !== undefined) {
      yield* validateResourceFieldRef(resourceFieldRef, `${at}.resourceFieldRef`, { inVolume: true });
    } else yield required(at, "one of fieldRef and resourceFieldRef is required");
    yield* validateFileMode(mode, `${at}.mode`);
  }
}

export function* validateProjected({ defaultMode, sources }: ProjectedVolumeSource, at: string): Iterable<FieldError> {
  yield* validateFileMode(defaultMode, `${at}.defaultMode`);
  const seenPaths = new Set<string>();
  for (const [index, source] of (sources ?? []).entries()) yield* validateProjection(source, seenPaths, at, `${at}.sources[${index}]`);
}

/** Two sources may not write the same file: `seenPaths` are those of the sources before. */
function* validateProjection(source: VolumeProjection, seenPaths: Set<string>, at: string, here: string): Iterable<FieldError> {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source;
  if (secret !== undefined) yield* validateKeys(secret, seenPaths, at, `${here}.secret`);
  if (configMap !== undefined) yield* validateKeys(configMap, seenPaths, at, `${here}.configMap`);
  if (downwardAPI !== undefined) {
    for (const file of downwardAPI.items ?? []) {
      yield* validateDownwardFiles([file], `${here}.downwardAPI`);
      yield* validateNewPath(file.path, file.path, seenPaths, at);
    }
  }
  if (serviceAccountToken !== undefined) yield* validateToken(serviceAccountToken, at, `${here}.serviceAccountToken`);
  const given = [secret, configMap, downwardAPI, serviceAccountToken].filter((one) => one !== undefined);
  if (given.length > 1) yield forbidden(here, "may not specify more than 1 volume type per source");
}

interface Keys {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
}

function* validateKeys({ name, items }: Keys, seenPaths: Set<string>, at: string, here: string): Iterable<FieldError> {
  if (!name) yield required(`${here}.name`);
  for (const [index, item] of (items ?? []).entries()) {
    yield* validateKeyToPath(item, `${here}.items[${index}]`);
    yield* validateNewPath(item.path, name ?? "", seenPaths, at);
  }
}

function* validateNewPath(path: string | undefined, shown: string, seenPaths: Set<string>, at: string): Iterable<FieldError> {
  if (!path) return;
  if (seenPaths.has(path)) yield invalid(at, shown, "conflicting duplicate paths");
  seenPaths.add(path);
}

function* validateToken({ expirationSeconds = 0, path }: ServiceAccountTokenProjection, at: string, here: string): Iterable<FieldError> {
  if (expirationSeconds < TOKEN_EXPIRATION_MIN_SECONDS) {
    yield invalid(`${here}.expirationSeconds`, expirationSeconds, "may not specify a duration less than 10 minutes");
  }
  if (expirationSeconds > TOKEN_EXPIRATION_MAX_SECONDS) {
    yield invalid(`${here}.expirationSeconds`, expirationSeconds, "may not specify a duration larger than 2^32 seconds");
  }
  if (!path) yield required(`${at}.path`);
  else yield* validateWrittenPath(path, `${at}.path`);
}
