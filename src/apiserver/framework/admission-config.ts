/** What can be set about admission: which plugins are asked, and the settings of those that have some. */

export interface AdmissionConfig {
  /** Plugins that are asked besides those that are by default (--enable-admission-plugins). */
  readonly enabledPlugins: readonly string[];
  /** Plugins that are not asked (--disable-admission-plugins). Wins over `enabledPlugins`. */
  readonly disabledPlugins: readonly string[];
  /** DefaultTolerationSeconds: how long pods stay on a node that is not ready (--default-not-ready-toleration-seconds), or is not reached. */
  readonly notReadyTolerationSeconds: number;
  readonly unreachableTolerationSeconds: number;
  readonly podSecurity: PodSecurityConfig;
}

/** The levels of namespaces that say none, and what is exempt (AdmissionConfiguration of PodSecurity). */
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
