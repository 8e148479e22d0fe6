/**
 * Starts a stopwatch. The returned function gives the milliseconds during which this process ran since then: the CPU
 * time, but at most the elapsed time.
 */
export function stopwatch(): () => number {
  const [startsAt, usage] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(usage);
    return Math.min(performance.now() - startsAt, (user + system) / 1000);
  };
}
