/**
 * Controller services of the storage drivers of all nodes, for the built-in sidecars: those of this node at their sockets, those of other
 * nodes through their kubelets (kubelet/contracts/driver-calls.ts), so that no node needs permissions for objects of others.
 */
import type { Node } from "../../api/generated/core/v1.ts";
import { withinTimeout } from "../../apiserver/shared/scraping.ts";
import { anySignal } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { CsiControllerClient } from "../../csi/client/controller-client.ts";
import { CsiConnection, type CsiChannel } from "../../csi/client/csi-client.ts";
import type { CsiControllerDriver } from "../../csi/contract.ts";
import type { ControllerDrivers } from "../../csi/sidecars/sidecar.ts";
import { GrpcError, type GrpcCode } from "../../host/grpc/channel.ts";
import { CODE_HEADER, driverCallPath, MESSAGE_HEADER } from "../../kubelet/contracts/driver-calls.ts";
import type { CsiDrivers } from "../../kubelet/machine/csi/csi-drivers.ts";
import type { CallKubelet, KubeletRequest, KubeletResponse } from "./kubelet-caller.ts";

export interface ClusterDriversOptions {
  /** Of this process. */
  readonly nodeName: string;
  readonly own: Pick<CsiDrivers, "controller" | "listen">;
  readonly callKubelet: CallKubelet | undefined;
  /** Rejects if the Node does not exist. */
  node(name: string): Promise<Node>;
  readonly clock: Clock;
}

export class ClusterDrivers implements ControllerDrivers {
  readonly #options: ClusterDriversOptions;

  constructor(options: ClusterDriversOptions) {
    this.#options = options;
  }

  controller(name: string, nodeName: string): CsiControllerDriver | undefined {
    const { nodeName: ownName, own, callKubelet, clock } = this.#options;
    if (nodeName === ownName) return own.controller(name);
    if (callKubelet === undefined) return undefined;
    const send: Send = async (request) => callKubelet(await this.#options.node(nodeName), request);
    return new CsiControllerClient(new CsiConnection(kubeletChannel({ driver: name, nodeName, clock }, send), { clock }));
  }

  listen(listener: () => void): Disposable {
    return this.#options.own.listen(listener);
  }
}

type Send = (request: KubeletRequest) => Promise<KubeletResponse>;

interface Target {
  readonly driver: string;
  readonly nodeName: string;
  readonly clock: Clock;
}

function kubeletChannel({ driver, nodeName, clock }: Target, send: Send): CsiChannel {
  return {
    async call(path, body, { timeoutMs, signal }) {
      const limit = { clock, timeoutMs, target: `the kubelet of node ${nodeName}` };
      let isLate = false;
      const answer = await withinTimeout(limit, async (late) => {
        late.addEventListener("abort", () => (isLate = true), { once: true });
        return send({ path: driverCallPath(driver, path), body, signal: anySignal(late, signal) ?? late });
      }).catch((error: unknown) => {
        // The driver may have got the request.
        const code = isLate ? "DEADLINE_EXCEEDED" : "UNAVAILABLE";
        throw new GrpcError(code, `calling it through the kubelet of node ${nodeName} failed: ${messageOf(error)}`, {
          sent: true,
          cause: error,
        });
      });
      return messageIn(answer, nodeName);
    },
    close: () => undefined,
  };
}

/** A kubelet without this request, or without the driver, answers with another code. */
function messageIn({ code, headers, body }: KubeletResponse, nodeName: string): Uint8Array {
  const status = String(headers[CODE_HEADER] ?? "");
  if (code !== 200 || status === "") {
    const text = new TextDecoder().decode(body).trim();
    throw new GrpcError("UNAVAILABLE", `the kubelet of node ${nodeName} answered with code ${code}: ${text}`, { sent: false });
  }
  if (status === "OK") return body;
  throw new GrpcError(status as GrpcCode, decodeURIComponent(String(headers[MESSAGE_HEADER] ?? "")), { sent: true });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
