/** Configuration of admission: which plugins are enabled, and the settings of those that have some. */

export interface AdmissionConfig {
  /** Plugins enabled in addition to the default ones (--enable-admission-plugins). */
  readonly enabledPlugins: readonly string[];
  /** Disabled plugins (--disable-admission-plugins). Takes precedence over `enabledPlugins`. */
  readonly disabledPlugins: readonly string[];
  /** DefaultTolerationSeconds: how long Pods stay on a node that is not ready (--default-not-ready-toleration-seconds), or unreachable. */
  readonly notReadyTolerationSeconds: number;
  readonly unreachableTolerationSeconds: number;
  readonly podSecurity: PodSecurityConfig;
}

/** Default levels of namespaces without labels, and exemptions (AdmissionConfiguration of PodSecurity). */
export interface PodSecurityConfig {
  readonly defaults: {
    readonly enforce: string;
    readonly enforceVersion: string;
    readonly audit: string;
    readonly auditVersion: string;
    readonly warn: string;
    readonly warnVersion: string;
  };
  readonly exemptions: {
    readonly usernames: readonly string[];
    readonly runtimeClasses: readonly string[];
    readonly namespaces: readonly string[];
  };
}

const PRIVILEGED = "privileged";
const LATEST = "latest";

export const DEFAULT_ADMISSION_CONFIG: AdmissionConfig = {
  enabledPlugins: [],
  disabledPlugins: [],
  notReadyTolerationSeconds: 300,
  unreachableTolerationSeconds: 300,
  podSecurity: {
    defaults: {
      enforce: PRIVILEGED,
      enforceVersion: LATEST,
      audit: PRIVILEGED,
      auditVersion: LATEST,
      warn: PRIVILEGED,
      warnVersion: LATEST,
    },
    exemptions: { usernames: [], runtimeClasses: [], namespaces: [] },
  },
};
