/** Records a CPU profile of the measured part only, to the directory K8TS_BENCH_PROFILE, if set. */
import { writeFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { join } from "node:path";

const directory = process.env["K8TS_BENCH_PROFILE"];

export async function profiled<T>(work: () => Promise<T>): Promise<T> {
  if (directory === undefined) return work();
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  const result = await work();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  await writeFile(join(directory, `${process.pid}-${Math.round(performance.now())}.cpuprofile`), JSON.stringify(profile));
  return result;
}
