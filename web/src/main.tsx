import { render } from 'preact'
import { App } from './app'
import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './styles/page.css'
import './styles/shell.css'
import { startLanguage } from './texts'
import { startTheme } from './ui/theme'

startTheme()
startLanguage()
const root = document.getElementById('app')!
root.textContent = ''
render(<App />, root)
