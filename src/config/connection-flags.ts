/** How a separate component connects to the API server: its flags and the resulting connection. */
import { homedir } from "node:os";
import { durationToMs, parseDuration } from "../api/machinery/duration.ts";
import type { ConnectionConfig } from "../client/kubeconfig/connection-config.ts";
import { isOfServiceAccount, loadKubeconfig } from "../client/kubeconfig/load-kubeconfig.ts";
import {
  LEASE_DURATION_MS,
  RENEW_DEADLINE_MS,
  RETRY_PERIOD_MS,
  electionProblems,
  type ElectionTimes,
} from "../client/election/leader-election.ts";
import { readWhole } from "../host/files/files.ts";
import { standardInput } from "../host/processes/standard-input.ts";
import { realClock } from "../host/real-clock.ts";
import type { Environment, Io } from "../cli/framework/command.ts";
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";
import { readFileFlag } from "../cli/framework/file-flag.ts";
import { fileCheck, type FileCheck } from "../cli/framework/check-files.ts";

export const connectionFlags = {
  kubeconfig: {
    type: "string",
    placeholder: "FILE",
    doc: "kubeconfig with the address of the API server and the credentials to use. Default: the files in $KUBECONFIG, ~/.kube/config, or the service account when running in a Pod.",
  },
  context: { type: "string", placeholder: "NAME", doc: "Context of the kubeconfig to use. Default: its current context." },
} as const satisfies FlagSet;

export type ConnectionFlagValues = FlagValues<typeof connectionFlags>;

type Surroundings = Pick<Io, "environment" | "clock">;

/** Rejects with one message for all problems of the files. */
export function loadConnection(
  { kubeconfig, context }: ConnectionFlagValues,
  { environment, clock }: Surroundings,
): Promise<ConnectionConfig> {
  const choice = context === undefined ? {} : { context };
  return clock.external(loadKubeconfig({ environment, readFile: readFileOrInput, homeDirectory: homedir(), path: kubeconfig, ...choice }));
}

/** "-" is standard input: for a kubeconfig that must not be in a file. */
async function readFileOrInput(path: string): Promise<Uint8Array> {
  if (path !== "-") return readWhole(path);
  const chunks: Uint8Array[] = [];
  for await (const chunk of standardInput()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Origin of the connection, for messages: "the current context of admin.conf". */
export function connectionSource({ kubeconfig, context }: ConnectionFlagValues, environment: Environment, made: ConnectionConfig): string {
  if (kubeconfig === undefined && isOfServiceAccount(made)) return "the service account of this Pod";
  const { KUBECONFIG: list = "" } = environment;
  const chosen = context === undefined ? "the current context" : `context ${JSON.stringify(context)}`;
  return `${chosen} of ${kubeconfig ?? (list === "" ? "~/.kube/config" : list)}`;
}

/** Checked only if set by a flag: a default that is missing is not a mistake in the flags. */
export function connectionFileCheck({ kubeconfig, context }: ConnectionFlagValues, environment: Environment): readonly FileCheck[] {
  return fileCheck(kubeconfig, async (path) => {
    await readFileFlag(path, "--kubeconfig");
    await loadConnection({ kubeconfig: path, context }, { environment, clock: realClock });
  });
}

const seconds = (durationMs: number): string => `${durationMs / 1_000}s`;

export const electionFlags = {
  "leader-elect-lease-duration": {
    type: "string",
    placeholder: "DURATION",
    default: seconds(LEASE_DURATION_MS),
    doc: "Time that standby instances wait after the last observed renewal before they try to acquire the Lease.",
    expects: durationExpected,
  },
  "leader-elect-renew-deadline": {
    type: "string",
    placeholder: "DURATION",
    default: seconds(RENEW_DEADLINE_MS),
    doc: "Time that the leader keeps retrying to renew the Lease before it gives up leadership.",
    expects: durationExpected,
  },
  "leader-elect-retry-period": {
    type: "string",
    placeholder: "DURATION",
    default: seconds(RETRY_PERIOD_MS),
    doc: "Time between attempts to acquire or renew the Lease.",
    expects: durationExpected,
  },
} as const satisfies FlagSet;

export type ElectionFlagValues = FlagValues<typeof electionFlags>;

export function durationExpected(text: string): string | undefined {
  const problem = 'a duration such as "15s" or "1m30s"';
  try {
    return parseDuration(text) > 0n ? undefined : problem;
  } catch {
    return problem;
  }
}

export function durationMs(text: string): number {
  return durationToMs(parseDuration(text));
}

export function electionTimes(values: ElectionFlagValues): Required<ElectionTimes> {
  return {
    leaseDurationMs: durationMs(values["leader-elect-lease-duration"]),
    renewDeadlineMs: durationMs(values["leader-elect-renew-deadline"]),
    retryPeriodMs: durationMs(values["leader-elect-retry-period"]),
  };
}

/** Problems, in terms of the flags. */
export function electionFlagProblems(values: ElectionFlagValues): readonly string[] {
  const names = [
    ["leaseDurationMs", "--leader-elect-lease-duration"],
    ["renewDeadlineMs", "--leader-elect-renew-deadline"],
    ["retryPeriodMs", "--leader-elect-retry-period"],
  ] as const;
  return electionProblems(electionTimes(values)).map((problem) =>
    names.reduce((text, [name, flag]) => text.replaceAll(name, flag), `${problem} (in ms)`),
  );
}
