/** Audit flags of the API server, with upstream's names and defaults. */
import type { FlagSet, FlagValues } from "../../cli/framework/flags.ts";

/** The audit log: what is recorded, and where. */
export interface AuditConfig {
  /** Policy of audit.k8s.io/v1. */
  readonly policyFile: string;
  /** "-": standard output. */
  readonly logPath: string;
  /** Megabytes after which the file is rotated; 0: never. */
  readonly sizeMaxMegabytes: number;
  /** Days for which rotated files are kept; 0: by age none is removed. */
  readonly ageMaxDays: number;
  /** Rotated files that are kept; 0: all. */
  readonly backupsMax: number;
}

const FORMAT = "json";

export const auditFlags = {
  "audit-policy-file": {
    type: "string",
    placeholder: "FILE",
    doc: "Policy (audit.k8s.io/v1) that says which requests are recorded in the audit log, and how much of them. Requires --audit-log-path.",
  },
  "audit-log-path": {
    type: "string",
    placeholder: "FILE",
    doc: "File to write the audit log to, one event per line; - is standard output. Requires --audit-policy-file.",
  },
  "audit-log-maxsize": {
    type: "number",
    min: 0,
    default: 100,
    placeholder: "MEGABYTES",
    doc: "Size at which the audit log is rotated; 0 disables rotation.",
  },
  "audit-log-maxage": {
    type: "number",
    min: 0,
    default: 366,
    placeholder: "DAYS",
    doc: "Age at which rotated audit logs are deleted; 0 keeps them at any age.",
  },
  "audit-log-maxbackup": {
    type: "number",
    min: 0,
    default: 100,
    doc: "Maximum number of rotated audit logs to keep; 0 keeps all.",
  },
  "audit-log-format": {
    type: "string",
    default: FORMAT,
    placeholder: "FORMAT",
    doc: "Format of the audit log: json, one event per line.",
    expects: (format) => (format === FORMAT ? undefined : `${FORMAT}; upstream's format legacy is not supported`),
  },
} as const satisfies FlagSet;

export type AuditFlagValues = FlagValues<typeof auditFlags>;

export function auditProblems(values: AuditFlagValues): string[] {
  const [policy, path] = [values["audit-policy-file"], values["audit-log-path"]];
  return (policy === undefined) === (path === undefined) ? [] : ["--audit-policy-file and --audit-log-path must be set together"];
}

export function auditConfig(values: AuditFlagValues): { readonly auditLog?: AuditConfig } {
  const [policyFile, logPath] = [values["audit-policy-file"], values["audit-log-path"]];
  if (policyFile === undefined || logPath === undefined) return {};
  return {
    auditLog: {
      policyFile,
      logPath,
      sizeMaxMegabytes: values["audit-log-maxsize"],
      ageMaxDays: values["audit-log-maxage"],
      backupsMax: values["audit-log-maxbackup"],
    },
  };
}
