/** `k8ts read-worker`: one process of `--read-workers`, started by an API server, which leaves everything that it needs in a directory. */
import { READ_WORKER_READY_LINE } from "../../../components/api-server/read-worker-start.ts";
import { startReadWorker } from "../../../components/api-server/read-worker.ts";
import { defineCommand } from "../../framework/command.ts";
import { waitForStop } from "../../framework/wait-for-stop.ts";

export const readWorker = defineCommand({
  description: "Serve reads of the API server that starts this process (--read-workers). Cannot be used by itself.",
  flags: {},
  arguments: {
    directory: { doc: "Directory with the sockets of the API server." },
    number: { doc: "Number of this worker, from 1." },
  },
  examples: [],
  options: ({ directory, number }) => ({ ok: true, options: { directory, number: Number(number) } }),

  async run(place, io) {
    const lost = new AbortController();
    const signal = AbortSignal.any([io.signal, lost.signal]);
    await using _worker = await startReadWorker(place, { ...io, lost: () => lost.abort() });
    io.out(READ_WORKER_READY_LINE);
    await waitForStop({ ...io, signal });
  },
});
