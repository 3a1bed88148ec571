/** A busy loop that ends with the process whose id it is given, however that one ends. */
const parent = Number(process.argv[2]);
const LOOK_EVERY_MS = 100;

function spin() {
  // Its parent is another one as soon as the first is gone.
  if (process.ppid !== parent) process.exit();
  const untilMs = performance.now() + LOOK_EVERY_MS;
  while (performance.now() < untilMs);
  setImmediate(spin);
}

spin();
