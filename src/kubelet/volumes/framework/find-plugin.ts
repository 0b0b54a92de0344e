/** Selects the plugin of a volume by the source that the volume, or its PersistentVolume, names. */
import type { PersistentVolume, PersistentVolumeSpec, Volume } from "../../../api/generated/core/v1.ts";
import { VolumeError } from "./volume-error.ts";
import type { VolumePlugin } from "./volume-plugin.ts";

/** The API server's default for a volume without a source. */
const SOURCE_DEFAULT = "emptyDir";

/** Throws a VolumeError for an unsupported source. */
export function findPlugin(plugins: readonly VolumePlugin[], { name: _name, ...sources }: Volume): VolumePlugin {
  const [source = SOURCE_DEFAULT] = givenKeys(sources);
  const plugin = plugins.find((candidate) => candidate.source === source);
  if (plugin === undefined) throw unsupported(source);
  return plugin;
}

/** Throws a VolumeError for an unsupported source. */
export function findPersistentPlugin(plugins: readonly VolumePlugin[], { spec = {} }: PersistentVolume): VolumePlugin {
  const plugin = plugins.find(({ persistentSource }) => persistentSource !== undefined && spec[persistentSource] !== undefined);
  if (plugin === undefined) throw unsupported(givenKeys(spec).find((key) => !NOT_SOURCES.has(key)) ?? "unknown");
  return plugin;
}

/** Fields of a PersistentVolume that do not name its kind. */
const NOT_SOURCES: ReadonlySet<string> = new Set<keyof PersistentVolumeSpec>([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
]);

function givenKeys(fields: object): readonly string[] {
  return Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [key]));
}

function unsupported(source: string): VolumeError {
  return new VolumeError(`volumes of type ${source} are not supported by this version`);
}
