/** Admission with just these plugins, for tests of one: what others would add does not stand in the way. */
import { DEFAULT_ADMISSION_CONFIG, type AdmissionConfig } from "../framework/admission-config.ts";
import { all } from "../admission/all.ts";

export function onlyPlugins(...names: readonly string[]): AdmissionConfig {
  return { ...DEFAULT_ADMISSION_CONFIG, enabledPlugins: names, disabledPlugins: Object.keys(all).filter((name) => !names.includes(name)) };
}
