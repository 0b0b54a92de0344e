/**
 * A port that this process holds for others, which listen on it: they inherit its descriptor (child-process.ts). This process accepts
 * nothing; connections wait in the kernel while none of the others accepts.
 */
import * as net from "node:net";
import { getSystemErrorMap } from "node:util";
import { ListenError } from "../http/server.ts";

export interface BoundPort extends Disposable {
  readonly port: number;
  readonly descriptor: number;
}

interface BoundHandle {
  readonly fd: number;
  getsockname(into: { port?: number }): number;
  close(): void;
}

/** What Node's own cluster module binds the sockets with that its processes share; there is no other way to bind without accepting. */
const createServerHandle = Reflect.get(net, "_createServerHandle") as (
  address: string,
  port: number,
  addressType: 4 | 6,
) => BoundHandle | number;

/** Port 0: any free one. Throws a ListenError. */
export function bindPort({ host, port }: { readonly host: string; readonly port: number }): BoundPort {
  const handle = createServerHandle(host, port, host.includes(":") ? 6 : 4);
  if (typeof handle === "number") throw failure({ host, port }, handle);
  const name: { port?: number } = {};
  // Reports a port that is in use, too, of which binding says nothing.
  const problem = handle.getsockname(name);
  if (problem !== 0) {
    handle.close();
    throw failure({ host, port }, problem);
  }
  return { port: name.port ?? port, descriptor: handle.fd, [Symbol.dispose]: () => handle.close() };
}

function failure({ host, port }: { readonly host: string; readonly port: number }, problem: number): ListenError {
  const [code, message] = getSystemErrorMap().get(problem) ?? ["", `error ${problem}`];
  return new ListenError(`Cannot listen on ${host}:${port}: bind ${code}: ${message}`, code, undefined);
}
