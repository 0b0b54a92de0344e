import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { ClusterConnection, SocketListener } from "../connection.ts";
import { startSession, type SessionOptions } from "./terminal-session.ts";

const target = { namespace: "shop", pod: "web", container: "main" };
const size = { columns: 80, rows: 24 };
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const on = (channel: number, said: string) => Uint8Array.of(channel, ...new TextEncoder().encode(said));
const exited = (code: number) =>
  on(3, JSON.stringify({ status: "Failure", message: "exited", details: { causes: [{ reason: "ExitCode", message: String(code) }] } }));

/** A server of which the test plays each socket. */
function session(options: Pick<SessionOptions, "commands"> = {}) {
  const opened: { readonly path: string; readonly listener: SocketListener; readonly sent: string[] }[] = [];
  const said: string[] = [];
  const connection: ClusterConnection = {
    send: () => Promise.reject(new Error("no requests")),
    open(path, _protocols, listener) {
      const sent: string[] = [];
      opened.push({ path, listener, sent });
      return { send: (bytes) => void sent.push(`${bytes[0]}:${text(bytes.subarray(1))}`), close: () => listener.closed("") };
    },
  };
  const started = startSession({
    ...{ connection, target, size, ...options },
    output: (bytes) => void said.push(text(bytes)),
    started: (command) => void said.push(`<${command}>`),
    ended: ({ exitCode, message }) => void said.push(`ended ${exitCode} ${message}`),
  });
  return { started, opened, said };
}

const SHELLS = [["bash"], ["sh"]];

test("a session sends its size and its input, and reports output and the exit code", () => {
  const { started, opened, said } = session({ commands: [["sh", "-c", "ls *"]] });
  const [socket] = opened;
  equal(
    socket?.path,
    "/api/v1/namespaces/shop/pods/web/exec?container=main&stdin=true&stdout=true&tty=true&command=sh&command=-c&command=ls+*",
  );

  started.input(on(7, "lost before it is open"));
  socket?.listener.opened();
  started.input(new TextEncoder().encode("ls\r"));
  started.resize({ columns: 100, rows: 30 });
  socket?.listener.message(on(1, "out"));
  socket?.listener.message(exited(3));
  socket?.listener.closed("");

  deepEqual(socket?.sent, ['4:{"Width":80,"Height":24}', "0:ls\r", '4:{"Width":100,"Height":30}']);
  deepEqual(said, ["<sh -c ls *>", "out", "ended 3 exited"]);
});

test("a session tries the next shell if one is missing, and does not show its message", () => {
  const { opened, said } = session({ commands: SHELLS });

  opened[0]?.listener.opened();
  opened[0]?.listener.message(on(1, ""));
  opened[0]?.listener.message(on(1, "exec: bash: executable file not found in $PATH\r\n"));
  opened[0]?.listener.message(exited(127));
  opened[0]?.listener.closed("");
  opened[1]?.listener.opened();
  opened[1]?.listener.message(on(1, "$ "));

  equal(opened.length, 2);
  deepEqual(said, ["<bash>", "<sh>", "$ "]);
});

test("a session ends with the message of the last shell, and with that of another failure at once", () => {
  const missing = session({ commands: SHELLS });
  for (const index of [0, 1]) {
    missing.opened[index]?.listener.message(on(3, JSON.stringify({ status: "Failure", message: "executable file not found" })));
    missing.opened[index]?.listener.closed("");
  }
  deepEqual(missing.said, ["ended undefined executable file not found"]);

  const stopped = session({ commands: SHELLS });
  stopped.opened[0]?.listener.message(on(3, JSON.stringify({ status: "Failure", message: "the container is not running" })));
  stopped.opened[0]?.listener.closed("");
  deepEqual(stopped.said, ["ended undefined the container is not running"]);
});

test("a session without a command attaches, and closes once", () => {
  const { started, opened, said } = session();
  equal(opened[0]?.path, "/api/v1/namespaces/shop/pods/web/attach?container=main&stdin=true&stdout=true&tty=true");
  opened[0]?.listener.opened();

  started.close();
  started.close();

  deepEqual(said, ["<>", "ended undefined "]);
});
