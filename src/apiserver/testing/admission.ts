/** An admission configuration with only these plugins, so that others do not interfere with a test. */
import { DEFAULT_ADMISSION_CONFIG, type AdmissionConfig } from "../framework/admission-config.ts";
import { all } from "../admission/all.ts";

export function onlyPlugins(...names: readonly string[]): AdmissionConfig {
  return { ...DEFAULT_ADMISSION_CONFIG, enabledPlugins: names, disabledPlugins: Object.keys(all).filter((name) => !names.includes(name)) };
}
