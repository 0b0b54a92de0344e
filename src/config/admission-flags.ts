/** Admission flags of the API server. */
import { all as plugins } from "../apiserver/admission/all.ts";
import { DEFAULT_ADMISSION_CONFIG, type AdmissionConfig } from "../apiserver/framework/admission-config.ts";
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";

const NAMES = Object.keys(plugins);
const BY_DEFAULT = NAMES.filter((name) => plugins[name]?.byDefault === true);

export const admissionFlags = {
  "enable-admission-plugins": {
    type: "list",
    placeholder: "NAME,...",
    doc: `Admission plugins to enable in addition to the default ones: ${BY_DEFAULT.join(", ")}.`,
    expects: pluginExpected,
  },
  "disable-admission-plugins": {
    type: "list",
    placeholder: "NAME,...",
    doc: "Admission plugins to disable, including default ones.",
    expects: pluginExpected,
  },
  "admission-control-config-file": {
    type: "string",
    placeholder: "FILE",
    doc: "AdmissionConfiguration: the kubeconfig with the API server's credentials for admission webhooks, and the configuration of PodSecurity.",
  },
  "default-not-ready-toleration-seconds": {
    type: "number",
    min: 0,
    default: DEFAULT_ADMISSION_CONFIG.notReadyTolerationSeconds,
    placeholder: "SECONDS",
    doc: "tolerationSeconds of the not-ready:NoExecute toleration that is added to Pods without one.",
  },
  "default-unreachable-toleration-seconds": {
    type: "number",
    min: 0,
    default: DEFAULT_ADMISSION_CONFIG.unreachableTolerationSeconds,
    placeholder: "SECONDS",
    doc: "tolerationSeconds of the unreachable:NoExecute toleration that is added to Pods without one.",
  },
} as const satisfies FlagSet;

export type AdmissionFlagValues = FlagValues<typeof admissionFlags>;

function pluginExpected(name: string): string | undefined {
  return NAMES.includes(name) ? undefined : `one of ${NAMES.join(", ")}`;
}

export function admissionProblems(values: AdmissionFlagValues): string[] {
  const both = values["enable-admission-plugins"].filter((name) => values["disable-admission-plugins"].includes(name));
  return both.map((name) => `--enable-admission-plugins and --disable-admission-plugins both contain ${name}; remove it from one of them`);
}

export function admissionConfig(values: AdmissionFlagValues): AdmissionConfig {
  return {
    ...DEFAULT_ADMISSION_CONFIG,
    enabledPlugins: values["enable-admission-plugins"],
    disabledPlugins: values["disable-admission-plugins"],
    notReadyTolerationSeconds: values["default-not-ready-toleration-seconds"],
    unreachableTolerationSeconds: values["default-unreachable-toleration-seconds"],
  };
}
