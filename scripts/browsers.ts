import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'

interface Browser {
  readonly name: string
  /** The Debian package that brings it. */
  readonly package: string
  readonly find: () => string | undefined
}

const browsers = {
  chromium: {
    name: 'Chromium',
    package: 'chromium',
    find: () => at('CHROMIUM_PATH', '/usr/bin/chromium'),
  },
  firefox: {
    name: 'Firefox',
    package: 'firefox-esr',
    find: () => at('FIREFOX_PATH', '/usr/bin/firefox-esr'),
  },
  xvfb: { name: 'Xvfb', package: 'xvfb', find: () => at('XVFB_PATH', '/usr/bin/Xvfb') },
  webkit: {
    name: 'WebKitGTK',
    package: 'webkit2gtk-driver',
    find: () => at('MINIBROWSER_PATH', ...miniBrowsers()),
  },
} satisfies Record<string, Browser>

export type BrowserName = keyof typeof browsers

/** Where a browser is. Throws with the command that installs what is missing. */
export function browserPath(name: BrowserName): string {
  const path = browsers[name].find()
  if (path === undefined)
    throw new Error(
      `Cannot start ${browsers[name].name}: it isn't installed. Run: ${installCommand(missing())}`,
    )
  return path
}

/** Installs the browsers that are missing, where we may; otherwise throws with the command to run. */
export function ensureBrowsers(): void {
  const absent = missing()
  if (absent.length === 0) return
  const names = absent.map(({ name }) => name).join(', ')
  const command = installCommand(absent)
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version'))
    throw new Error(`Cannot test in ${names}: not installed. Run: ${command}`)
  console.log(`Installing ${names}: ${command}`)
  execFileSync('sh', ['-c', command], { stdio: ['ignore', 'ignore', 'inherit'] })
  const left = missing()
  if (left.length > 0)
    throw new Error(
      `Cannot test in ${left.map(({ name }) => name).join(', ')}: still missing after ${command}`,
    )
}

function missing(): readonly Browser[] {
  return Object.values(browsers).filter(({ find }) => find() === undefined)
}

function installCommand(absent: readonly Browser[]): string {
  const sudo = process.getuid?.() === 0 ? '' : 'sudo '
  const packages = absent.map((browser) => browser.package).join(' ')
  return `${sudo}apt-get update && ${sudo}env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${packages}`
}

function at(variable: string, ...paths: readonly string[]): string | undefined {
  const chosen = process.env[variable]
  return (chosen === undefined ? paths : [chosen]).find((path) => existsSync(path))
}

function miniBrowsers(): readonly string[] {
  if (!existsSync('/usr/lib')) return []
  return readdirSync('/usr/lib')
    .filter((name) => name.endsWith('-linux-gnu'))
    .flatMap((name) =>
      ['4.1', '4.0', '6.0'].map((version) => `/usr/lib/${name}/webkit2gtk-${version}/MiniBrowser`),
    )
}

/** How Chromium is started for tests: as root, and without calling home. */
export const chromiumFlags: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
