"""Words of invented functions, and what tools answer."""

from pools import Pool


def separated(text):
    """The entries of a text that stand apart by commas, all for training."""
    return [x.strip() for x in text.split(",")]


# What invented functions are made of, and the keys of tool_params.py that they share with others.
VERBS = separated("""get, calculate, fetch, find, create, update, delete, check, start, stop, list, compute,
estimate, generate, validate, send, set, add, remove, assign, convert, compare, analyze, predict, measure,
register, schedule, reset, load, merge, rank, record, plan, verify, export, select, cancel""")
NOUNS = separated("""account, agenda, album, allergy, antenna, archive, asset, badge, bandwidth, batch, battery, beam,
benefit, bicycle, boat, bond, bonus, bridge, budget, building, cable, campaign, candidate, canvas, cargo,
carbon, catalog, cell, certificate, channel, charge, chart, chapter, cipher, circuit, claim, class, climate,
cluster, coating, code, collision, colony, concert, contract, corridor, course, crop, curve, cycle, dam, deck,
delivery, demand, depth, diet, dividend, dose, draft, drone, elevator, emission, engine, enzyme, equation,
exam, exhibit, expense, fabric, factory, feed, fence, fiber, field, fleet, flow, forest, formula, fossil,
frame, frequency, friction, fund, galaxy, garden, gear, gene, glacier, grade, grain, graph, grid, habit,
harbor, harvest, heat, horizon, image, impact, index, insurance, island, journal, kernel, kiln, lake, lamp,
lease, lens, lesson, level, library, license, lens flare, loan, locker, machine, magnet, manual, market, matrix,
medal, menu, meter, mine, mixture, model, module, molecule, mortgage, motor, museum, network, node, novel,
orbit, orchard, oven, package, panel, parade, patent, patient, payload, payroll, pension, permit, phase, pipe,
planet, playlist, plot, podcast, policy, pollution, portfolio, pressure, profile, project, protein, pulse,
pump, puzzle, quota, radar, reactor, rebate, recipe, record, reef, region, rental, report, reservoir, resource,
review, river, robot, roof, rotor, route, sample, satellite, scanner, score, screen, season, segment, seminar,
shelf, shift, signal, skill, slope, snapshot, soil, solution, spectrum, square, stadium, staff, storage, storm,
strategy, stream, student, subsidy, survey, tank, tariff, tax, tide, tile, token, torque, tournament, traffic,
transit, trail, tunnel, turbine, valve, vector, vehicle, vessel, visa, voucher, warehouse, wave, wheel, widget,
window, wind, workload, yield, zone""")
QUANTITIES = separated("""depth, width, density, weight, threshold, ratio, limit, offset, delay, score, duration, angle,
index, level, factor, rate, capacity, size, cost, margin, tolerance, interval, capital, frequency, population,
energy, force, range, pressure, growth, rank, count, age, height, budget, altitude, intensity, charge""")
TEXTS = separated("""name, code, title, owner, category, region, model, type, city, supplier, author, group, mode,
source, target, label, country, brand, method, material, team, company, id, address, email, tag""")
MAKERS = {
    "city": "city",
    "region": "country",
    "country": "country",
    "owner": "full",
    "author": "full",
    "company": "company",
    "supplier": "company",
    "id": "code",
    "code": "code",
    "title": "title",
    "address": "address",
    "email": "mail",
}
OK_RESULTS = [
    '{"status": "ok"}',
    '{"success": true}',
    '{"ok": true}',
    "ok",
    "OK",
    "success",
    "done",
    '{"status": "success"}',
    '{"result": "ok"}',
    '{"status": "done"}',
    "true",
    '{"done": true}',
    '{"result": true}',
    '{"status": "created"}',
    "{}",
    "null",
    '{"status": 200}',
]
ERRORS = [
    "not found",
    "permission denied",
    "timeout",
    "no such contact",
    "invalid date",
    "out of stock",
    "service unavailable",
    "unknown city",
    "no connection",
    "already exists",
    "limit reached",
]
SCALARS = [
    "result",
    "value",
    "price",
    "temperature",
    "area",
    "balance",
    "count",
    "distance",
    "total",
    "rate",
    "volume",
    "average",
    "amount",
    "score",
    "status_text",
    "population",
    "answer",
    "speed",
    "level",
    "duration_minutes",
    "stock_price",
    "travel_time",
    "exchange_rate",
    "room_temperature",
    "capital",
]
COMMON_KEYS = """city country date start_date end_date person full_name email user_id
order_id priority status file company year month limit currency format language url topic number
numbers weight age radius length width people sort temp_unit host table column""".split()

# Values of parameters, in tool_values.py.
CHORE_VERB = Pool(
    separated("""buy, pick up, pay, call, clean, book, check, return, send, fix, order, prepare,
wash, renew, feed, visit, print, sign, collect, charge, water, paint, pack, finish, read""")
)
CHORE_THING = Pool(
    separated("""the rent, milk, the car, my sister, the windows, the tax form, the package, grandma, the
library books, the cat, the plants, the invoice, the dentist, a gift for Tom, the laundry, the passport, the
report, dinner, the bike, the printer, the slides, the doctor, batteries, the garage, the insurance""")
)
MESSAGE = Pool(
    separated("""I am running late, see you at the station, the meeting is moved to four, happy birthday, dinner
is ready, call me back, I will be there in ten minutes, thanks for the gift, the door is open, please bring
milk, we won the game, can we talk tomorrow, the train is delayed, good luck today, the keys are under the mat,
I finished the report, where are you, the plumber comes on Friday, do not forget the tickets, lunch is on me""")
)
PLACE_HEAD = Pool(
    separated("""Cafe, Hotel, Bistro, Villa, Casa, Pension, Trattoria, Hostel, Taverna, The Old, The Golden,
The Blue, La, Le, Chez, Little, Grand, Royal""")
)
EXTENSION = ["txt", "pdf", "csv", "docx", "png", "py", "md", "xlsx", "zip", "json", "mp3", "log"]
INGREDIENT = Pool(
    separated("""eggs, spinach, rice, tomatoes, chicken, potatoes, cheese, onions, lentils, mushrooms, pasta,
salmon, carrots, beans, tofu, zucchini, peppers, garlic, leeks, corn, bacon, apples""")
)
