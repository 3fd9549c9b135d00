// Gets what real Spark needs: a JDK, PySpark in a virtual environment and Hudi's bundles, in the cache that all clones share.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cache, must, root, run, since } from './run.mjs';

export const pysparkVersion = '3.5.6';

/** Hudi's releases, oldest first, and the table version that each writes. */
export const bundles = /** @type {const} */ ({ '0.15.0': 6, '1.0.2': 8, '1.1.1': 9, '1.2.0': 9 });

/** @typedef {keyof typeof bundles} Bundle */

/** The release of hudi-rs in Python that reads our tables too. */
const hudiRsVersion = '0.5.0';

const pyspark = `pyspark-${pysparkVersion}`;
const pythonOf = (/** @type {string} */ venv) => path.join(venv, 'bin', 'python');
const jars = path.join(cache, 'jars');

/** Java releases that Spark 3.5 runs on; newer ones lack what it reaches into. */
const javaReleases = ['17', '11'];

/**
 * Where everything is, made ready first: a minute or two the first time, mostly downloads.
 *
 * @param {readonly Bundle[]} wanted
 * @returns {Promise<{ python: string, javaHome: string, jar: (bundle: Bundle) => string, lockJar: (bundle: Bundle) => Promise<string> }>}
 */
export async function sparkTools(wanted) {
  await mkdir(jars, { recursive: true });
  const javaHome = await java();
  // setuptools stands in for distutils, which Python 3.12 lacks and pyspark imports.
  const python = await venv(pyspark, ['setuptools', 'wheel'], [`pyspark==${pysparkVersion}`]);
  for (const bundle of wanted) await jar(bundle);
  return { python, javaHome, jar: jarFile, lockJar: (bundle) => lockJar(bundle, javaHome) };
}

const jarFile = (/** @type {Bundle} */ bundle) => path.join(jars, `hudi-spark3.5-bundle_2.12-${bundle}.jar`);

async function java() {
  const found = await findJava();
  if (found !== undefined) return found;
  await install('A JDK of release 17 or 11 (JAVA_HOME names one that is not on PATH)', 'openjdk-17-jre-headless');
  const installed = await findJava();
  if (installed === undefined) throw new Error('apt installed a JDK, and none is found at /usr/lib/jvm');
  return installed;
}

/** The first home among JAVA_HOME, PATH's java and the usual folders whose release will do. */
async function findJava() {
  const folder = '/usr/lib/jvm';
  const usual = (await readdir(folder).catch(() => [])).sort().map((name) => path.join(folder, name));
  const onPath = /java\.home = (.+)/.exec((await run('java', ['-XshowSettings:properties', '-version'])).output)?.[1]?.trim();
  for (const home of [process.env.JAVA_HOME, onPath, ...usual]) {
    if (!home || !existsSync(path.join(home, 'bin', 'java'))) continue;
    const { output } = await run(path.join(home, 'bin', 'java'), ['-version']);
    const release = /version "(\d+)/.exec(output)?.[1];
    if (release !== undefined && javaReleases.includes(release)) return home;
  }
  return undefined;
}

/** A Python with hudi-rs. */
export const hudiRs = () => venv(`hudi-rs-${hudiRsVersion}`, [`hudi==${hudiRsVersion}`, 'pyarrow']);

/**
 * A virtual environment in the cache; gives its Python.
 *
 * @param {string} name
 * @param {...string[]} packages each list is an install of its own
 */
async function venv(name, ...packages) {
  const folder = path.join(cache, name);
  // Written last, so that a stopped install is seen and made again.
  const complete = path.join(folder, 'complete');
  if (existsSync(complete)) return pythonOf(folder);
  const start = performance.now();
  console.log(`setup: getting ${name}`);
  const made = await run('python3', ['-m', 'venv', '--clear', folder]);
  if (made.code !== 0) {
    await install("Python 3 with its module venv (what it said: " + made.output.trim().split('\n').at(-1) + ')', 'python3-venv');
    await must('python3', ['-m', 'venv', '--clear', folder]);
  }
  for (const list of packages) await must(pythonOf(folder), ['-m', 'pip', 'install', '--quiet', ...list]);
  await writeFile(complete, name);
  console.log(`setup: ${name} (${since(start)})`);
  return pythonOf(folder);
}

/** @param {Bundle} bundle */
async function jar(bundle) {
  const file = jarFile(bundle);
  if (existsSync(file)) return;
  const start = performance.now();
  const maven = await run('mvn', ['--version']);
  if (maven.code !== 0) await install('Maven, which fetches the bundles', 'maven');
  console.log(`setup: getting Hudi ${bundle} (110 MB)`);
  // Copied beside and moved in whole: a stopped download leaves nothing that looks finished.
  const beside = path.join(jars, `${bundle}.${process.pid}`);
  const artifact = `org.apache.hudi:hudi-spark3.5-bundle_2.12:${bundle}`;
  await must('mvn', ['--batch-mode', '--quiet', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${beside}`], { cwd: jars });
  await rename(path.join(beside, path.basename(file)), file);
  await rm(beside, { recursive: true });
  console.log(`setup: Hudi ${bundle} (${since(start)})`);
}

/**
 * The tests' lock client, compiled against a bundle by the Scala compiler that PySpark carries.
 *
 * @param {Bundle} bundle
 * @param {string} javaHome
 */
async function lockJar(bundle, javaHome) {
  const source = path.join(root, 'tests/parity/spark/lock/BucketLock.scala');
  const hash = createHash('sha256').update(await readFile(source)).digest('hex').slice(0, 16);
  const file = path.join(jars, `lock-${bundle}-${hash}.jar`);
  if (existsSync(file)) return file;
  const lib = path.join(cache, pyspark, 'lib');
  const [python = ''] = (await readdir(lib)).filter((name) => name.startsWith('python'));
  const spark = path.join(lib, python, 'site-packages/pyspark/jars');
  const scala = (await readdir(spark)).filter((name) => /^scala-(compiler|library|reflect)-/.test(name)).map((name) => path.join(spark, name));
  const beside = `${file}.${process.pid}.jar`;
  const compiler = ['-cp', scala.join(path.delimiter), 'scala.tools.nsc.Main', '-nowarn'];
  await must(path.join(javaHome, 'bin', 'java'), [...compiler, '-classpath', [jarFile(bundle), ...scala].join(path.delimiter), '-d', beside, source]);
  await rename(beside, file);
  return file;
}

/** @param {string} what @param {string} debianPackage */
async function install(what, debianPackage) {
  const command = `apt-get install --no-install-recommends ${debianPackage}`;
  if (!existsSync('/usr/bin/apt-get') || process.getuid?.() !== 0) {
    throw new Error(`Missing: ${what}. ${existsSync('/usr/bin/apt-get') ? `Run: sudo ${command}` : 'Install it.'}`);
  }
  console.log(`setup: ${command}`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await must('apt-get', ['update', '-qq'], { env });
  await must('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debianPackage], { env });
}
