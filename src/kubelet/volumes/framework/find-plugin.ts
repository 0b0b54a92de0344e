/** Selects the plugin of a volume by the source that the volume names. */
import type { Volume } from "../../../api/generated/core/v1.ts";
import { VolumeError } from "./volume-error.ts";
import type { VolumePlugin } from "./volume-plugin.ts";

/** The API server's default for a volume without a source. */
const SOURCE_DEFAULT = "emptyDir";

/** Throws a VolumeError for an unsupported source. */
export function findPlugin(plugins: readonly VolumePlugin[], { name: _name, ...sources }: Volume): VolumePlugin {
  const [source = SOURCE_DEFAULT] = Object.entries(sources).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  const plugin = plugins.find((candidate) => candidate.source === source);
  if (plugin === undefined) throw new VolumeError(`volumes of type ${source} are not supported by this version`);
  return plugin;
}
