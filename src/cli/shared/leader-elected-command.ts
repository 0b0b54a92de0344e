/**
 * What the commands have in common that run one part of a cluster in a process of its own (`k8ts controller-manager`, `k8ts scheduler`):
 * the flags of the election, the page of figures, what is said while it runs, and the end. Of several such processes one acts.
 */
import { newUid } from "../../apiserver/write/identifiers.ts";
import { Disposables } from "../../base/disposables.ts";
import type { ConnectionConfig } from "../../client/https/connection-config.ts";
import { machineName } from "../../host/files/private-files.ts";
import { realRandom } from "../../host/real-random.ts";
import type { Io } from "../framework/command.ts";
import { electionFlagProblems, electionFlags, electionTimes } from "../../config/connection-flags.ts";
import type { FlagSet, FlagValues } from "../framework/flags.ts";
import type { Pages } from "../../components/pages/http-pages.ts";
import type { ActingPart, LedOptions, LedPart } from "../../components/leader-election/leader-elected-component.ts";
import type { Election } from "../../components/leader-election/leader-elected.ts";
import { listenOrExplain, placeOfFlag } from "../../cluster/listen-or-explain.ts";
import { loopbackAddress, startMetricsPages } from "../../components/pages/metrics-pages.ts";
import { untilStopped } from "../framework/until-stopped.ts";

/** `lease`: where such processes find out who leads, unless told otherwise. */
export function leaderElectFlags(lease: Election["lease"]) {
  return {
    "leader-elect": {
      type: "boolean",
      default: true,
      doc: "Run leader election with a Lease: of several instances only the leader is active, the others are on standby.",
    },
    ...electionFlags,
    "leader-elect-resource-name": {
      type: "string",
      placeholder: "NAME",
      default: lease.name,
      doc: "Name of the Lease used for leader election.",
    },
    "leader-elect-resource-namespace": {
      type: "string",
      placeholder: "NAMESPACE",
      default: lease.namespace,
      doc: "Namespace of the Lease used for leader election.",
    },
  } as const satisfies FlagSet;
}

export type LeaderElectValues = FlagValues<ReturnType<typeof leaderElectFlags>>;

/** An election before it is known who this process is in it. */
export type ElectionRules = Required<Omit<Election, "identity">>;

/** Undefined: there is none, and this process acts at once. */
export function electionOf(values: LeaderElectValues): ElectionRules | undefined {
  if (!values["leader-elect"]) return undefined;
  const lease = { namespace: values["leader-elect-resource-namespace"], name: values["leader-elect-resource-name"] };
  return { lease, ...electionTimes(values) };
}

/** In the words of the flags. Times of no election do not matter. */
export function leaderElectProblems(values: LeaderElectValues): readonly string[] {
  return values["leader-elect"] ? electionFlagProblems(values) : [];
}

export interface LedCommand<Part extends ActingPart> {
  /** The first word of what it says of itself: "controllers". */
  readonly what: string;
  readonly connection: ConnectionConfig;
  readonly election: ElectionRules | undefined;
  /** As --metrics-address takes it. Undefined: there are no pages. */
  readonly metricsAddress: string | undefined;
  /** What is answered beside the figures. `acting`: the part, while this process leads. */
  pages?(acting: () => Part | undefined): Pages;
  /** What is opened for as long as the command runs belongs to `owner`. */
  start(context: Omit<LedOptions, "transportFor" | "isFenced">, owner: Disposables): LedPart<Part>;
}

/** Runs until it is told to stop. Rejects if it cannot listen, cannot act and nobody else could, or does not end what it did. */
export async function runLedCommand<Part extends ActingPart>(command: LedCommand<Part>, io: Io): Promise<void> {
  const { clock, log } = io;
  const { election, connection } = command;
  await using owned = new Disposables();
  const random = realRandom();
  const identity = `${machineName()}_${newUid(random)}`;
  const late: { part?: LedPart<Part> } = {};
  // Before it stands: if it cannot listen it should not have led.
  await showPages(command, () => late.part, owned, io);
  const part = command.start(
    {
      ...(election === undefined ? {} : { election: { ...election, identity } }),
      ...{ clock, random, log },
      onLeading: (isLeading) => io.out(isLeading ? `active as ${identity}` : "on standby"),
    },
    owned,
  );
  owned.use(part);
  late.part = part;
  const standing = election === undefined ? "" : `, leader election with ${election.lease.namespace}/${election.lease.name} as ${identity}`;
  io.out(`${command.what} for ${connection.server}${standing}`);
  // Without others that could try it there is nothing to wait for.
  if (election === undefined) await Promise.race([part.started, untilStopped(io)]);
  // As upstream's: a process that has lost the lease and cannot end what it did ends itself.
  await Promise.race([part.stuck, untilStopped(io)]);
  io.out("Stopping");
}

async function showPages<Part extends ActingPart>(
  { metricsAddress, election, pages }: LedCommand<Part>,
  part: () => LedPart<Part> | undefined,
  owner: Disposables,
  io: Io,
): Promise<void> {
  const address = metricsAddress === undefined ? undefined : loopbackAddress(metricsAddress);
  if (address === undefined) return;
  const show = () =>
    startMetricsPages({
      ...address,
      metrics: () => part()?.metrics() ?? [],
      election: election === undefined ? undefined : { name: election.lease.name, isLeading: () => part()?.isLeading() ?? false },
      more: pages?.(() => part()?.acting()),
    });
  const shown = await listenOrExplain(placeOfFlag(address, "--metrics-address"), io, () => io.clock.external(show()));
  io.out(`metrics at ${owner.use(shown).url}/metrics`);
}
