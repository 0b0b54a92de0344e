/**
 * `k8ts elect`: leader election for programs that do not implement it. They query the leader over HTTP, or run as a child of this process,
 * only while it is the leader.
 *
 * While this process runs, its program does not overlap with another leader's: after a lost lease the program is killed, if necessary,
 * before another candidate can acquire the lease. If this process is killed with SIGKILL or suspended (SIGSTOP, a frozen container), it
 * cannot kill the program, which then overlaps with the next leader's. In a container whose PID 1 is this process, both terminate or freeze
 * together.
 */
import { newUid } from "../../base/uuid.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import {
  electionProblems,
  startLeaderElection,
  type LeaderElection,
  type LeaderElectionOptions,
} from "../../client/election/leader-election.ts";
import { createEventRecorder } from "../../client/events/create-event-recorder.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { createClient } from "../../client/rest-client.ts";
import { machineName } from "../../host/files/private-files.ts";
import { realRandom } from "../../host/real-random.ts";
import { defineCommand, type Command, type Io } from "../framework/command.ts";
import { connectionFlags, durationExpected, durationMs, loadConnection } from "../../config/connection-flags.ts";
import { startElectionPage } from "../../components/pages/election-page.ts";
import type { FlagValues } from "../framework/flags.ts";
import { parseHttpAddress } from "../../components/pages/http-pages.ts";
import { version } from "../../base/generated/version.ts";
import { runWhileLeader } from "../../components/leader-election/leader-elected-program.ts";
import { listenOrExplain, placeOfFlag } from "../../cluster/listen-or-explain.ts";
import { ProgramEnded } from "../framework/program-exited.ts";

/** Conventional port of leader-election sidecars. */
const DEFAULT_ADDRESS = "127.0.0.1:4040";

/** Share of the time between losing the lease and its next possible acquisition that the program has for a graceful exit. */
const GRACE_OF_LOST = 0.8;

function duration<const Default extends string>(standard: Default, doc: string) {
  return { type: "string", placeholder: "DURATION", default: standard, doc, expects: durationExpected } as const;
}

const flags = {
  "lease-name": { type: "string", placeholder: "NAME", required: true, doc: "Name of the Lease used for leader election." },
  "lease-namespace": {
    type: "string",
    placeholder: "NAMESPACE",
    doc: "Namespace of the Lease. Default: the namespace of the kubeconfig context, or of the Pod.",
  },
  id: {
    type: "string",
    placeholder: "NAME",
    doc: "Identity of this candidate; must be unique. Default: the host name and a random suffix.",
  },
  ...connectionFlags,
  "lease-duration": duration("15s", "Time that candidates wait after the last observed renewal before they try to acquire the Lease."),
  "renew-deadline": duration("10s", "Time that the leader keeps retrying to renew the Lease before it gives up leadership."),
  "retry-period": duration("2s", "Time between attempts to acquire or renew the Lease."),
  "http-address": {
    type: "string",
    placeholder: "HOST:PORT",
    doc: `Address to serve GET / ({"name": the leader, "isLeader": true or false}) and GET /healthz on. Default: ${DEFAULT_ADDRESS}, or disabled if a command is given.`,
    expects: (text: string) => (parseHttpAddress(text) === undefined ? `an address such as ${DEFAULT_ADDRESS}` : undefined),
  },
  "grace-period": duration(
    "30s",
    "Time between SIGTERM and SIGKILL when the command is stopped. After a lost Lease it is shortened to 80% of the time until another candidate can acquire it.",
  ),
} as const;

interface ElectOptions {
  readonly values: FlagValues<typeof flags>;
  readonly times: Required<Pick<LeaderElectionOptions, "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs">>;
  /** Empty: no command is run. */
  readonly command: readonly string[];
}

const withoutCommand = defineCommand({
  description:
    "Take part in a leader election with a Lease until Ctrl-C (SIGINT) or SIGTERM, then release the Lease. Other programs query the leader over HTTP, or the command after -- runs only while this process is the leader. If the command exits by itself, its exit code is returned.",
  flags,
  arguments: {},
  examples: [
    "k8ts elect --lease-name web",
    "k8ts elect --lease-name web --lease-namespace prod --id $POD_NAME --http-address 127.0.0.1:4040",
    "k8ts elect --lease-name nightly -- /usr/bin/worker --queue nightly",
  ],

  options(values) {
    const times = {
      leaseDurationMs: durationMs(values["lease-duration"]),
      renewDeadlineMs: durationMs(values["renew-deadline"]),
      retryPeriodMs: durationMs(values["retry-period"]),
    };
    const problems = electionProblems(times).map(inWordsOfFlags);
    return problems.length > 0 ? { ok: false, problems } : { ok: true, options: { values, times, command: [] } satisfies ElectOptions };
  },

  run: (options: ElectOptions, io) => run(options, io),
});

export const elect: Command<ElectOptions> = {
  ...withoutCommand,
  /** Everything after `--` is the command; none of it is parsed as flags. */
  parse(argv, environment) {
    const dashes = argv.indexOf("--");
    if (dashes === -1) return withoutCommand.parse(argv, environment);
    const parsed = withoutCommand.parse(argv.slice(0, dashes), environment);
    const command = argv.slice(dashes + 1);
    const missing = command.length === 0 ? ["No command is given after --; add one, or leave -- out"] : [];
    if (parsed.ok && missing.length === 0) return { ok: true, options: { ...parsed.options, command } };
    return { ok: false, problems: [...(parsed.ok ? [] : parsed.problems), ...missing] };
  },
};

function inWordsOfFlags(problem: string): string {
  const words = { leaseDurationMs: "--lease-duration", renewDeadlineMs: "--renew-deadline", retryPeriodMs: "--retry-period" };
  return Object.entries(words).reduce((text, [name, flag]) => text.replaceAll(name, flag), `${problem} (in ms)`);
}

async function run(options: ElectOptions, io: Io): Promise<void> {
  const { values, command } = options;
  const { clock, log } = io;
  const connection = await loadConnection(values, io);
  await using owned = new Disposables();
  const client = createClient(owned.use(httpsTransport(connection, { clock, log, userAgent: `k8ts-elect/${version}` })));
  const lease = { namespace: values["lease-namespace"] ?? connection.namespace, name: values["lease-name"] };
  const standing: { election?: LeaderElection } = {};
  const address = parseHttpAddress(values["http-address"] ?? (command.length === 0 ? DEFAULT_ADDRESS : ""));
  if (address !== undefined) {
    // Before the election starts: a process that cannot listen must not become the leader.
    const state = () => ({ name: standing.election?.leader ?? "", isLeader: standing.election?.isLeading() ?? false });
    const page = await listenOrExplain(placeOfFlag(address, "--http-address"), io, () => startElectionPage({ ...address, state }));
    io.out(`listening on ${owned.use(page).url}`);
  }
  const done = new AbortController();
  let outcome: Outcome = {};
  const ended = (how: Outcome): void => {
    outcome = how;
    done.abort();
  };
  const election = owned.use(stand(options, { io, client, lease, ended }, owned));
  standing.election = election;
  await clock.sleep(Infinity, AbortSignal.any([io.signal, done.signal])).catch(() => undefined);
  await election.stop();
  if (outcome.error !== undefined) throw outcome.error;
  if (outcome.code !== undefined && outcome.code !== 0) throw new ProgramEnded(outcome.code);
}

interface Standing extends Pick<LeaderElectionOptions, "client" | "lease"> {
  readonly io: Io;
  /** The command exited by itself or could not be started. */
  ended(outcome: Outcome): void;
}

function stand(options: ElectOptions, { io, client, lease, ended }: Standing, owned: Disposables): LeaderElection {
  const { values, times, command } = options;
  const { clock, log } = io;
  const random = realRandom();
  const identity = values.id ?? `${machineName()}_${newUid(random)}`;
  const events = owned.use(createEventRecorder({ client, component: "k8ts-elect", instance: machineName(), clock, random, log }));
  return startLeaderElection({
    ...{ client, lease, identity, ...times, clock, random, log, events },
    async onStartedLeading(signal, lost) {
      io.out(`${identity} became the leader`);
      if (command.length === 0) return;
      const outcome = await runCommandAsLeader(options, io.clock, signal, lost);
      if (outcome.code !== undefined || outcome.error !== undefined) ended(outcome);
    },
    onStoppedLeading: () => io.out(`${identity} is no longer the leader`),
    onNewLeader: (name) => void (name === identity || io.out(`${name} is the leader`)),
  });
}

interface Outcome {
  /** Exit code of the command, if it exited by itself. */
  readonly code?: number | undefined;
  /** Why the command could not be started. */
  readonly error?: Error;
}

async function runCommandAsLeader(
  { values, times, command }: ElectOptions,
  clock: Clock,
  signal: AbortSignal,
  lost: AbortSignal,
): Promise<Outcome> {
  const lostGraceMs = (times.leaseDurationMs - times.renewDeadlineMs) * GRACE_OF_LOST;
  try {
    return { code: await runWhileLeader({ command, clock, graceMs: durationMs(values["grace-period"]), lostGraceMs }, signal, lost) };
  } catch (error) {
    return { error: error as Error };
  }
}
