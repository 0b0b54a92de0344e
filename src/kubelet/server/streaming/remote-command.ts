/**
 * Commands in containers (exec, run) and attach, over WebSocket or SPDY. Invalid requests are rejected before the upgrade with upstream's
 * messages, which kubectl prints. Not here: the protocols themselves (exec-channels.ts, remote-command-spdy.ts).
 */
import { signalOf } from "../../../base/abort.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { chooseProtocol, EXEC_PROTOCOLS, serveExec, type ExecChannels, type ExecRun } from "../../exec/exec-channels.ts";
import { isRunning } from "../../pod/containers/runtime-containers.ts";
import { Refusal, type Call, type Handler, type ServedKubelet, type ServerContext } from "../call.ts";
import { containerSpec } from "../log-pages.ts";
import { serveRemoteCommandOverSpdy } from "./remote-command-spdy.ts";
import { SPDY, UPGRADE_REQUIRED } from "./upgrades.ts";

export const execHandler: Handler = async (context, call) => {
  const channels = channelsOf(call.query);
  const { kubelet } = context;
  const pod = podOf(kubelet, call);
  const containerId = await runningContainer(kubelet, pod, call);
  if (containerId === undefined) throw new Refusal(500, `container not found (${quoteGo(call.parameters["container"] ?? "")})`);
  const command = call.query.getAll("command");
  await serveStreams(context, call, channels, (streams, signal) => kubelet.runtime.exec(containerId, command, streams, signal));
};

export const attachHandler: Handler = async (context, call) => {
  const { kubelet } = context;
  const { container = "" } = call.parameters;
  const asked = channelsOf(call.query);
  const pod = podOf(kubelet, call);
  const containerId = await runningContainer(kubelet, pod, call);
  const spec = containerSpec(pod, container);
  if (containerId === undefined || spec === undefined)
    throw new Refusal(500, `container ${container} not found in pod ${pod.metadata.name}_${pod.metadata.namespace}`);
  const { runtime } = kubelet;
  if (runtime.attach === undefined)
    throw new Refusal(500, `cannot attach to container ${quoteGo(container)}: its runtime has no process for it`);
  // Whether it has a terminal was decided at its creation.
  const tty = spec.tty === true;
  const channels = { ...asked, tty, stderr: asked.stderr && !tty };
  await serveStreams(context, call, channels, async (streams, signal) => {
    await runtime.attach?.(containerId, streams, signal);
    return 0;
  });
};

/** Output limit of commands without a stream. Upstream's limit of one runtime message. */
const RUN_OUTPUT_BYTES_MAX = 16 << 20;

/** Returns the whole output at once with a JSON content type, as upstream. */
export const runHandler: Handler = async ({ kubelet }, call) => {
  const containerId = await runningContainer(kubelet, podOf(kubelet, call), call);
  if (containerId === undefined) throw new Refusal(500, `container not found (${quoteGo(call.parameters["container"] ?? "")})`);
  const command = (call.query.get("cmd") ?? "").split(" ");
  const [output, error] = [new Gathered(), new Gathered()];
  const streams = { output: output.add, error: error.add };
  const exitCode = await kubelet.runtime.exec(containerId, command, streams, signalOf(call.request.signal));
  if (exitCode !== 0) throw new Refusal(500, `command '${command.join(" ")}' exited with ${exitCode}: ${error.text()}`);
  call.reply.send({ code: 200, headers: { "content-type": "application/json" } }, [...output.pieces, ...error.pieces]);
};

class Gathered {
  readonly pieces: Uint8Array[] = [];
  #leftBytes = RUN_OUTPUT_BYTES_MAX;

  readonly add = (chunk: Uint8Array): void => {
    if (this.#leftBytes > 0) this.pieces.push(chunk.slice(0, this.#leftBytes));
    this.#leftBytes -= chunk.length;
  };

  text(): string {
    const decoder = new TextDecoder();
    return this.pieces.map((piece) => decoder.decode(piece, { stream: true })).join("");
  }
}

/** Only "1" is true, as upstream. */
function channelsOf(query: URLSearchParams): Required<ExecChannels> {
  const isAsked = (name: string): boolean => query.get(name) === "1";
  const tty = isAsked("tty");
  // A terminal has no separate stderr.
  const channels = { stdin: isAsked("input"), stdout: isAsked("output"), stderr: isAsked("error") && !tty, tty };
  if (!channels.stdin && !channels.stdout && !channels.stderr)
    throw new Refusal(400, "you must specify at least 1 of stdin, stdout, stderr");
  return channels;
}

function podOf(kubelet: ServedKubelet, { parameters: { namespace = "", pod: name = "" } }: Call): Pod {
  const pod = kubelet.pod({ namespace, name });
  if (pod === undefined) throw new Refusal(404, "pod does not exist");
  return pod;
}

/** Container id; undefined if it does not run, or the Pod has another uid. */
async function runningContainer(kubelet: ServedKubelet, { metadata }: Pod, { parameters }: Call): Promise<string | undefined> {
  const { uid, container = "" } = parameters;
  if (uid !== undefined && uid !== metadata.uid) return undefined;
  const name = { ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }), name: metadata.name ?? "" };
  const found = await kubelet.container(name, container);
  return isRunning(found) ? found?.id : undefined;
}

async function serveStreams(
  { streams }: ServerContext,
  { request, offer, tunnel }: Call,
  channels: ExecChannels,
  run: ExecRun,
): Promise<void> {
  if (offer !== undefined) {
    const protocol = chooseProtocol(offer.protocols);
    if (protocol === undefined) throw unknownProtocol(offer.protocols);
    return serveExec(streams.webSocket(await offer.accept(protocol)), channels, run, protocol);
  }
  if (tunnel?.protocol.toLowerCase() !== SPDY) throw new Refusal(500, UPGRADE_REQUIRED);
  await serveRemoteCommandOverSpdy({ request, tunnel, streams, channels, run });
}

function unknownProtocol(offered: readonly string[]): Refusal {
  return new Refusal(403, `requested protocol(s) are not supported: [${offered.join(" ")}]; supports [${EXEC_PROTOCOLS.join(" ")}]`);
}
