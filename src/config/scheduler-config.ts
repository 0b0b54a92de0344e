/** Configuration of the scheduler: the available plugins, and a KubeSchedulerConfiguration from a file or a program. */
import { parseYaml } from "../api/machinery/codec/yaml/yaml.ts";
import { YamlError } from "../api/machinery/codec/yaml/scalar.ts";
import { silentLogger } from "../base/logger.ts";
import { seededRandom } from "../base/random.ts";
import { realClock } from "../host/real-clock.ts";
import { profilesOf } from "../scheduler/config/profiles.ts";
import { defaultSchedulerConfiguration, readSchedulerConfiguration } from "../scheduler/config/read-configuration.ts";
import type { PluginCatalog, SchedulerConfiguration } from "../scheduler/config/scheduler-configuration.ts";
import { CONFIGURATION_API_VERSION, CONFIGURATION_KIND, type WrittenConfiguration } from "../scheduler/config/written-configuration.ts";
import type { PluginContext } from "../scheduler/framework/plugin.ts";
import { NO_DEVICE_EFFECTS, NO_DEVICES } from "../scheduler/framework/device-view.ts";
import { NO_STORAGE, NO_STORAGE_EFFECTS } from "../scheduler/framework/storage-view.ts";
import { all } from "../scheduler/plugins/all.ts";
import { readFileFlagBytes } from "../cli/framework/file-flag.ts";
import { UnusableFiles } from "../cli/framework/unusable-files.ts";

export const CATALOG: PluginCatalog = { defaults: all };

export const schedulerConfigFlag = {
  type: "string",
  placeholder: "FILE",
  doc: "KubeSchedulerConfiguration file (kubescheduler.config.k8s.io/v1), YAML or JSON: profiles, plugins and their arguments. Default: one profile, default-scheduler, with upstream's plugins.",
} as const;

/** For `k8ts up`, whose --config is another file. */
export const SCHEDULER_CONFIG_FLAG = "--scheduler-config";

/** From a program: apiVersion and kind are optional. Throws with all problems. */
export function schedulerConfig(written: Omit<WrittenConfiguration, "apiVersion" | "kind"> | undefined): SchedulerConfiguration {
  if (written === undefined) return defaultSchedulerConfiguration(CATALOG);
  return checked("the scheduler configuration", { apiVersion: CONFIGURATION_API_VERSION, kind: CONFIGURATION_KIND, ...written });
}

/** From the file of `flag`; without one, the default. Rejects with UnusableFiles, which has all problems. */
export async function readSchedulerConfig(file: string | undefined, flag: string): Promise<SchedulerConfiguration> {
  if (file === undefined) return defaultSchedulerConfiguration(CATALOG);
  try {
    return checked(file, parsed(file, await readFileFlagBytes(file, flag)));
  } catch (error) {
    throw new UnusableFiles([(error as Error).message], { cause: error });
  }
}

function parsed(file: string, bytes: Uint8Array): unknown {
  try {
    return parseYaml(bytes).value;
  } catch (error) {
    if (error instanceof YamlError) throw new Error(`Cannot read ${file}: ${error.message}`, { cause: error });
    throw error;
  }
}

function checked(what: string, written: unknown): SchedulerConfiguration {
  const read = readSchedulerConfiguration(written, CATALOG);
  const readable = read.ok ? read.configuration : read.readable;
  const problems = [...(read.ok ? [] : read.problems), ...(readable === undefined ? [] : problemsOfProfiles(readable))];
  if (read.ok && problems.length === 0) return read.configuration;
  throw new Error([`Cannot use ${what}:`, ...problems.map((problem) => `  ${problem}`)].join("\n"));
}

/** Some problems show only when plugins are created. They are created here only to report those before anything starts. */
function problemsOfProfiles(configuration: SchedulerConfiguration): readonly string[] {
  const made = profilesOf(configuration, CATALOG, NOWHERE);
  return made.ok ? [] : made.problems;
}

/** For plugins that are never called. */
const NOWHERE: PluginContext = {
  cluster: {
    namespace: () => undefined,
    namespaces: () => [],
    services: () => [],
    replicationControllers: () => [],
    replicaSets: () => [],
    statefulSets: () => [],
    podDisruptionBudgets: () => [],
    pod: () => undefined,
    node: () => undefined,
    storage: NO_STORAGE,
    devices: NO_DEVICES,
  },
  effects: {
    bind: () => Promise.resolve(),
    preempt: () => Promise.resolve(),
    clearNomination: () => Promise.resolve(),
    storage: NO_STORAGE_EFFECTS,
    devices: NO_DEVICE_EFFECTS,
  },
  nominatedPods: () => [],
  activate: () => undefined,
  runInBackground: () => undefined,
  clock: realClock,
  random: seededRandom(0),
  log: silentLogger,
};
