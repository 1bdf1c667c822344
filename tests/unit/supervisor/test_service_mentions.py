"""Which hosts a value names, and which Services a host can mean."""

from __future__ import annotations

import pytest

from reflet.supervisor.service_mentions import (
    MOST_HOSTS,
    ServiceName,
    mentions,
    port_variable,
    services_meant,
)


def named(variable: str, value: str) -> list[str]:
    """The certain hosts, as ``host:port`` where there is a port."""
    return [
        mention.host if mention.port is None else f"{mention.host}:{mention.port}"
        for mention in mentions(variable, value)
        if mention.certain
    ]


@pytest.mark.parametrize(
    ("value", "hosts"),
    [
        ("db:5432", ["db:5432"]),
        ("cache:6379/0", ["cache:6379"]),
        ("postgres://u:p@db:5432/x", ["db:5432"]),
        ("postgres://u:p@ss,w@db:5432/x?sslmode=off", ["db:5432"]),
        ("http://shop", ["shop"]),
        ("jdbc:postgresql://db.shop/x", ["db.shop"]),
        ("jdbc:sqlserver://db:1433;databaseName=x", ["db:1433"]),
        ("mongodb://u:p@a-0.a:27017,a-1.a:27017/x", ["a-0.a:27017", "a-1.a:27017"]),
        ("http://a:80,http://b:81", ["a:80", "b:81"]),
        ('{"cache": "redis://cache:6379/0"}', ["cache:6379"]),
        ("tcp://[fd00::1]:80", ["fd00::1:80"]),
        ("kafka-0.kafka:9092, kafka-1.kafka:9092", ["kafka-0.kafka:9092", "kafka-1.kafka:9092"]),
        ("u:p@tcp(db:3306)/x", ["db:3306"]),
        ("host=db port=5432 dbname=x", ["db:5432"]),
        ("Server=tcp:db,1433;Database=x", ["db:1433"]),
        ("Host=db;Database=x", ["db"]),
        (
            "-Dx=db.shop.svc -Dy=z.shop.svc.cluster.local:80",
            ["db.shop.svc", "z.shop.svc.cluster.local:80"],
        ),
        ("DB.Shop.svc", ["db.shop.svc"]),
        ("10.96.0.7", ["10.96.0.7"]),
        ("info", []),
        ("debug db verbose", []),
        ("1.2.3", []),
        ("https:", []),
        ("://", []),
        ("a.svcs b.svc.example", []),
        ("", []),
    ],
)
def test_values_name_hosts_in_forms_that_mean_nothing_else(value: str, hosts: list[str]) -> None:
    assert named("SETTING", value) == hosts


@pytest.mark.parametrize(
    "variable", ["DB_HOST", "PGHOST", "dbHost", "KAFKA_BROKERS", "DATABASE_URL"]
)
def test_a_word_alone_is_a_host_where_the_variable_says_so(variable: str) -> None:
    assert named(variable, "db") == ["db"]


@pytest.mark.parametrize("variable", ["APP", "LEVEL", "HOST_COUNT", "GREETING"])
def test_elsewhere_a_word_may_mean_anything(variable: str) -> None:
    (mention,) = mentions(variable, "db")

    assert not mention.certain


@pytest.mark.parametrize(
    "variable",
    [
        "ALLOWED_HOSTS",
        "NO_PROXY",
        "no_proxy",
        "BIND_ADDRESS",
        "corsOrigin",
        "KAFKA_ADVERTISED_HOST",
    ],
)
def test_what_is_about_the_process_itself_is_left_alone(variable: str) -> None:
    assert mentions(variable, "http://web:80") == []


def test_the_parts_of_a_value_are_where_they_are() -> None:
    value = "postgres://u:p@db:5432/x"

    (mention,) = mentions("URL", value)

    assert mention.port_span is not None
    assert value[mention.span.start : mention.span.end] == "db"
    assert value[mention.port_span.start : mention.port_span.end] == "5432"


@pytest.mark.parametrize("text", ["a,", "http://", ".svc", "tcp(", "host=", "a.b.svc "])
def test_a_text_of_any_length_is_read_in_bounded_time(text: str) -> None:
    assert len(mentions("TEXT", text * (120_000 // len(text)))) <= MOST_HOSTS


@pytest.mark.parametrize(
    ("host", "meant"),
    [
        ("db", [ServiceName("own", "db")]),
        ("db.shop", [ServiceName("own", "shop", "db"), ServiceName("shop", "db")]),
        ("db.shop.svc", [ServiceName("shop", "db")]),
        ("db.shop.svc.cluster.local", [ServiceName("shop", "db")]),
        ("db.shop.svc.cluster.local.", [ServiceName("shop", "db")]),
        ("db-0.db.shop", [ServiceName("shop", "db", "db-0")]),
        ("db-0.db.shop.svc", [ServiceName("shop", "db", "db-0")]),
        ("db-0.db.shop.svc.cluster.local", [ServiceName("shop", "db", "db-0")]),
        ("db.", []),
        ("db.shop.cluster.local", []),
        ("db.shop.svc.clusterset.local", []),
        ("10.96.0.7", []),
        ("1.2", []),
        ("a_b", []),
        ("-a", []),
    ],
)
def test_a_host_means_services_in_the_order_of_the_search_path(
    host: str, meant: list[ServiceName]
) -> None:
    assert list(services_meant(host, "own")) == meant


@pytest.mark.parametrize(
    ("host", "port"),
    [("DB_HOST", "DB_PORT"), ("PGHOST", "PGPORT"), ("dbHost", "dbPort"), ("DB_ADDRESS", "DB_PORT")],
)
def test_the_port_stands_in_the_variable_beside(host: str, port: str) -> None:
    assert port_variable(host) == port


def test_there_is_none_beside_a_variable_that_is_no_host() -> None:
    assert port_variable("LEVEL") is None
