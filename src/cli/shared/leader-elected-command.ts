/**
 * Shared by the commands that run one leader-elected component as a separate process (`k8ts controller-manager`, `k8ts scheduler`): leader
 * election flags, the metrics page, output and shutdown. Of several instances only the leader is active.
 */
import { newUid } from "../../base/uuid.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { RequestMetrics } from "../../client/request-metrics.ts";
import type { ConnectionConfig } from "../../client/kubeconfig/connection-config.ts";
import { machineName } from "../../host/files/private-files.ts";
import { realRandom } from "../../host/real-random.ts";
import type { Io } from "../framework/command.ts";
import { electionFlagProblems, electionFlags, electionTimes } from "../../config/connection-flags.ts";
import type { FlagSet, FlagValues } from "../framework/flags.ts";
import type { Pages } from "../../components/pages/http-pages.ts";
import type {
  ActiveComponent,
  LeaderElectedOptions,
  LeaderElectedComponent,
} from "../../components/leader-election/leader-elected-component.ts";
import type { Election } from "../../components/leader-election/leader-elected.ts";
import { listenOrExplain, placeOfFlag } from "../../cluster/listen-or-explain.ts";
import { loopbackAddress, startMetricsPages } from "../../components/pages/metrics-pages.ts";
import { waitForStop } from "../framework/wait-for-stop.ts";

/** `lease`: default Lease of the component. */
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

/** Election settings without the identity of this process. */
export type ElectionRules = Required<Omit<Election, "identity">>;

/** Undefined: leader election is disabled, the component starts immediately. */
export function electionOf(values: LeaderElectValues): ElectionRules | undefined {
  if (!values["leader-elect"]) return undefined;
  const lease = { namespace: values["leader-elect-resource-namespace"], name: values["leader-elect-resource-name"] };
  return { lease, ...electionTimes(values) };
}

/** Problems, in terms of the flags. Durations are ignored if leader election is disabled. */
export function leaderElectProblems(values: LeaderElectValues): readonly string[] {
  return values["leader-elect"] ? electionFlagProblems(values) : [];
}

export interface LeaderElectedCommand<Part extends ActiveComponent> {
  /** Name of the component in its output: "controllers". */
  readonly what: string;
  readonly connection: ConnectionConfig;
  readonly election: ElectionRules | undefined;
  /** Value of --metrics-address. Undefined: no metrics are served. */
  readonly metricsAddress: string | undefined;
  /** Additional pages. `acting`: the component, while this process is the leader. */
  pages?(acting: () => Part | undefined): Pages;
  /** Serves the component in another way, as long as the command runs. */
  serve?(acting: () => Part | undefined): Promise<AsyncDisposable> | undefined;
  /** Resources that live as long as the command are owned by `owner`. `counted` counts the requests of a transport. */
  start(
    context: Omit<LeaderElectedOptions, "transportFor" | "isFenced">,
    owner: Disposables,
    counted: (transport: Transport) => Transport,
  ): LeaderElectedComponent<Part>;
}

/** Runs until cancelled. Rejects if it cannot listen, if it fails without leader election, or if the component does not stop. */
export async function runLeaderElectedCommand<Part extends ActiveComponent>(command: LeaderElectedCommand<Part>, io: Io): Promise<void> {
  const { clock, log } = io;
  const { election, connection } = command;
  await using owned = new Disposables();
  const random = realRandom();
  const identity = `${machineName()}_${newUid(random)}`;
  const requests = new RequestMetrics(clock);
  const { host } = new URL(connection.server);
  const late: { part?: LeaderElectedComponent<Part> } = {};
  // Before the election starts: a process that cannot listen must not become the leader.
  await showPages(command, { part: () => late.part, requests }, owned, io);
  const served = command.serve?.(() => late.part?.acting());
  if (served !== undefined) owned.use(await clock.external(served));
  const part = command.start(
    {
      ...(election === undefined ? {} : { election: { ...election, identity } }),
      ...{ clock, random, log },
      onLeading: (isLeading) => io.out(isLeading ? `active as ${identity}` : "on standby"),
    },
    owned,
    (transport) => requests.counted(transport, host),
  );
  owned.use(part);
  late.part = part;
  const standing = election === undefined ? "" : `, leader election with ${election.lease.namespace}/${election.lease.name} as ${identity}`;
  io.out(`${command.what} for ${connection.server}${standing}`);
  // Without leader election no other instance can take over.
  if (election === undefined) await Promise.race([part.started, waitForStop(io)]);
  // As upstream: a process that lost the lease and cannot stop its component exits.
  await Promise.race([part.stuck, waitForStop(io)]);
  io.out("Stopping");
}

async function showPages<Part extends ActiveComponent>(
  { metricsAddress, election, pages }: LeaderElectedCommand<Part>,
  { part, requests }: { readonly part: () => LeaderElectedComponent<Part> | undefined; readonly requests: RequestMetrics },
  owner: Disposables,
  io: Io,
): Promise<void> {
  const address = metricsAddress === undefined ? undefined : loopbackAddress(metricsAddress);
  if (address === undefined) return;
  const show = () =>
    startMetricsPages({
      ...address,
      metrics: () => [...(part()?.metrics() ?? []), ...requests.families()],
      election: election === undefined ? undefined : { name: election.lease.name, isLeading: () => part()?.isLeading() ?? false },
      more: pages?.(() => part()?.acting()),
    });
  const shown = await listenOrExplain(placeOfFlag(address, "--metrics-address"), io, () => io.clock.external(show()));
  io.out(`metrics at ${owner.use(shown).url}/metrics`);
}
